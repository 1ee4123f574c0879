import type { WorkspaceForMember } from "@galley/store/workspaces/workspace"
import type { PageContext } from "../page-env.ts"
import { Layout } from "./layout.tsx"
import { Empty, Table } from "./parts.tsx"

export function WorkspacesPage({ c, workspaces }: { c: PageContext; workspaces: readonly WorkspaceForMember[] }) {
  return (
    <Layout c={c} title="Workspaces">
      <h1>Workspaces</h1>
      {workspaces.length === 0 ? (
        <Empty>You belong to no workspace yet. An owner of one can add you.</Empty>
      ) : (
        <Table label="Workspaces" head={["Workspace", "Your role"]}>
          {workspaces.map(({ slug, name, role }) => (
            <tr>
              <th scope="row">
                <a href={`/w/${slug}/projects`}>{name}</a>
              </th>
              <td>{role}</td>
            </tr>
          ))}
        </Table>
      )}
    </Layout>
  )
}
