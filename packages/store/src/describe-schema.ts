import { getTableColumns, getTableName, is } from "drizzle-orm"
import { PgTable } from "drizzle-orm/pg-core"
import * as schema from "./schema.ts"

/** Each column that drizzle believes in, as `table.column type` with ` not null` where it is, to compare with a migrated database. */
export function describeSchema(): string[] {
  return Object.values(schema)
    .filter((value) => is(value, PgTable))
    .flatMap((table) =>
      Object.values(getTableColumns(table)).map(
        (column) => `${getTableName(table)}.${column.name} ${column.getSQLType()}${column.notNull ? " not null" : ""}`,
      ),
    )
}
