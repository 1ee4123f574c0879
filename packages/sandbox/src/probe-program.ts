/** One thing the probe tries as the slot's user. */
export type ProbeAttempt =
  | Readonly<{ operation: "connect" | "send_udp"; host: string; port: number; fromPort?: number }>
  | Readonly<{ operation: "resolve"; name: string }>
  | Readonly<{ operation: "open_raw_socket" }>
  | Readonly<{ operation: FileOperation; path: string }>

export const treeWriteOperations = [
  "append",
  "truncate",
  "replace",
  "unlink",
  "rename",
  "chmod",
  "touch",
  "hardlink",
  "create_beside",
  "mkdir_beside",
  "symlink_beside",
  "mkfifo_beside",
] as const
type FileOperation = "read" | "list" | (typeof treeWriteOperations)[number]

/**
 * The probe: Python (its standard library only) because it must listen and open IPv6, UDP and raw sockets, and because a Python that
 * slot users can start is there anyway. Reads `{attempts, listen}` as one JSON line; answers `listening` when it does, then one line
 * `{status, openFiles, outcomes}`. An outcome is `ok` or the name of the error.
 */
export const probeProgram = `
import errno, json, os, socket, sys

def family(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET

def connect(host, port, fromPort=None):
    with socket.socket(family(host)) as s:
        s.settimeout(2)
        if fromPort is not None:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", fromPort))
        s.connect((host, port))

def send_udp(host, port):
    with socket.socket(family(host), socket.SOCK_DGRAM) as s:
        s.sendto(b"galley", (host, port))

def resolve(name):
    socket.getaddrinfo(name, None)

def open_raw_socket():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP).close()

def open_for(flags):
    return lambda path: os.close(os.open(path, flags))

operations = {
    "connect": connect,
    "send_udp": send_udp,
    "resolve": resolve,
    "open_raw_socket": open_raw_socket,
    "read": open_for(os.O_RDONLY),
    "list": os.listdir,
    "append": open_for(os.O_WRONLY | os.O_APPEND),
    "truncate": lambda path: os.truncate(path, 0),
    "replace": open_for(os.O_RDWR | os.O_TRUNC),
    "unlink": os.unlink,
    "rename": lambda path: os.rename(path, path + ".renamed"),
    "chmod": lambda path: os.chmod(path, 0o666),
    "touch": lambda path: os.utime(path, (0, 0)),
    "hardlink": lambda path: os.link(path, path + ".linked"),
    "create_beside": lambda path: open_for(os.O_WRONLY | os.O_CREAT | os.O_EXCL)(path + ".created"),
    "mkdir_beside": lambda path: os.mkdir(path + ".directory"),
    "symlink_beside": lambda path: os.symlink("/etc/passwd", path + ".symlink"),
    "mkfifo_beside": lambda path: os.mkfifo(path + ".fifo"),
}

def outcome(attempt):
    arguments = dict(attempt)
    try:
        operations[arguments.pop("operation")](**arguments)
        return "ok"
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)

def answer_once(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", port))
        s.listen(1)
        s.settimeout(5)
        print("listening", flush=True)
        connection, _ = s.accept()
        connection.sendall(b"galley")
        connection.close()

job = json.loads(sys.stdin.readline())
left_open = [n for n in os.listdir("/proc/self/fd") if int(n) > 2 and os.path.lexists("/proc/self/fd/" + n)]
report = {
    "status": open("/proc/self/status").read(),
    "openFiles": [int(n) for n in left_open],
    "outcomes": [outcome(attempt) for attempt in job["attempts"]],
}
if job["listen"] is not None:
    answer_once(job["listen"])
print(json.dumps(report), flush=True)
`
