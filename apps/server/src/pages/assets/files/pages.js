// What pages do beyond links and forms. Everything works without it.

const encoder = new TextEncoder()

/** Counts the bytes of a text area while somebody types. */
for (const output of document.querySelectorAll("output[data-bytes-of]")) {
  const area = document.getElementById(output.dataset.bytesOf)
  area.addEventListener("input", () => {
    // A form sends what the browser shows with plain line breaks; the server stores them so.
    const bytes = encoder.encode(area.value).length
    output.value = bytes.toLocaleString("en-US")
    output.classList.toggle("over", bytes > Number(area.dataset.maxBytes))
  })
}

/** A message about something done belongs to this visit: a reload or a bookmark shall not repeat it. */
const here = new URL(location.href)
if (here.searchParams.has("done")) {
  here.searchParams.delete("done")
  history.replaceState(history.state, "", here)
}

/** A part that fetches itself anew waits while the keyboard is inside, for the exchange would take the focus away. */
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.contains(document.activeElement)) event.preventDefault()
})
