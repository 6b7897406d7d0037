package exectool

import "golang.org/x/sys/unix"

const openFiles = 4096

// limit sets what a command without isolation may use: no core dumps, three quarters of the machine's memory for each process,
// and open files. A limit that is lower already stays. The process runs already, so this is not a wall, and a failure no error.
func limit(pid int) {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: openFiles}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		limits[unix.RLIMIT_DATA] = uint64(info.Totalram) * uint64(info.Unit) / 4 * 3
	}
	for resource, most := range limits {
		var have unix.Rlimit
		if unix.Prlimit(pid, resource, nil, &have) == nil && have.Max > most {
			_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(have.Cur, most), Max: most}, nil)
		}
	}
}
