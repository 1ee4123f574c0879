import { expect, test } from "vitest"
import { z } from "zod"
import { HttpAddress, integerFromText, isLoopback, parseConfiguration } from "./configuration.ts"

const Example = z.object({ URL: HttpAddress, SLOTS: integerFromText(1, 64).default(2), KEY: z.string() })

test("reads values, fills defaults and takes an empty variable as unset", () => {
  expect(parseConfiguration(Example, { URL: "https://git.example/api/v3/", KEY: "k", SLOTS: "", OTHER: "x" })).toEqual({
    URL: "https://git.example/api/v3",
    SLOTS: 2,
    KEY: "k",
  })
})

// R-CONF-1
test("names every missing and wrong variable at once and never a value", () => {
  const read = () => parseConfiguration(Example, { URL: "ftp://secret-host", SLOTS: "many" })
  expect(read).toThrow(expect.objectContaining({ code: "config_invalid" }))
  expect(read).toThrow(/URL: .*\n.*SLOTS: .*\n.*KEY: is missing/s)
  expect(read).not.toThrow(/secret-host/)
})

test.each(["http://user:pass@127.0.0.1", "http://127.0.0.1/?a=1", "http://127.0.0.1/#x", "file:///etc", "127.0.0.1:80"])(
  "refuses %j as an address",
  (address) => {
    expect(HttpAddress.safeParse(address).success).toBe(false)
  },
)

// R-BOUND-9
test.each(["http://127.0.0.1:41000/v1", "http://localhost", "http://[::1]:80", "http://127.9.9.9"])("takes %j as loopback", (address) => {
  expect(isLoopback(address)).toBe(true)
})

// R-BOUND-9
test.each(["http://127.0.0.1.example", "http://example", "http://10.0.0.1", "http://0.0.0.0"])(
  "does not take %j as loopback",
  (address) => {
    expect(isLoopback(address)).toBe(false)
  },
)
