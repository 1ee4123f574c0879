import { expect, test } from "vitest"
import { type ProcessFacts, parseProcess, processesBelow, processesOfUser, readProcesses } from "./processes.ts"

const status = (state: string) => `Name:\tx\nState:\t${state} (x)\nPid:\t42\nUid:\t1\t2\t3\t4\nGroups:\t7 8 \nVmRSS:\t     12 kB\n`

test("a process is read with all four users, its place in the tree and its memory", () => {
  expect(parseProcess(status("S"), "42 (x) S 7 8 9 0 -1")).toEqual([
    { pid: 42, parent: 7, group: 8, session: 9, uids: [1, 2, 3, 4], groups: [7, 8], residentBytes: 12 * 1024 },
  ])
})

test("a command with spaces and parentheses does not shift the fields of a process", () => {
  expect(parseProcess(status("R"), "42 (a) 1 2 3 (b c)) S 7 8 9 0")).toMatchObject([{ parent: 7, group: 8, session: 9 }])
})

test("a zombie is no living process", () => {
  expect(parseProcess(status("Z"), "42 (x) Z 7 8 9 0")).toEqual([])
})

test("a kernel thread has no memory", () => {
  expect(parseProcess("State:\tS (x)\nPid:\t2\nUid:\t0\t0\t0\t0\n", "2 (kthreadd) S 0 0 0 0")).toMatchObject([{ residentBytes: 0 }])
})

test("a process belongs to a user by any of its four ids", () => {
  const processes = [facts(1, { uids: [0, 5, 0, 0] }), facts(2, { uids: [0, 0, 0, 5] }), facts(3, {})]
  expect(pids(processesOfUser(processes, 5))).toEqual([1, 2])
})

test("below a process are its descendants, its group and its session, in whatever order they are listed", () => {
  const processes = [
    facts(13, { parent: 12 }),
    facts(12, { parent: 10 }),
    facts(20, { parent: 1, group: 10 }),
    facts(21, { parent: 1, session: 10 }),
    facts(30, { parent: 1 }),
    facts(10, { parent: 5 }),
    facts(5, { parent: 1 }),
  ]
  expect(pids(processesBelow(processes, 10))).toEqual([10, 12, 13, 20, 21])
})

test("the running machine's processes include this one", () => {
  expect(readProcesses().find(({ pid }) => pid === process.pid)?.residentBytes).toBeGreaterThan(1024 * 1024)
})

function facts(pid: number, rest: Partial<ProcessFacts>): ProcessFacts {
  return { pid, parent: 1, group: pid, session: pid, uids: [0, 0, 0, 0], groups: [], residentBytes: 0, ...rest }
}

function pids(processes: readonly ProcessFacts[]): number[] {
  return processes.map(({ pid }) => pid).sort((a, b) => a - b)
}
