import postgres from "postgres"

/** The one durable INSERT of the limit and the peer. */
export type DeliveryStore = (deliveryId: string, event: string, pullRequestNumber: number, headSha: string) => Promise<unknown>

/** Statements are prepared; ten connections as Galley has. */
export function openDeliveryStore(url: string): DeliveryStore {
  const sql = postgres(url, { max: 10, onnotice: () => {} })
  return (deliveryId, event, pullRequestNumber, headSha) => sql`
    insert into deliveries (id, event, pull_request, head_sha) values (${deliveryId}, ${event}, ${pullRequestNumber}, ${headSha})`
}
