package systemd

import (
	"fmt"
	"os"
	"strings"
)

// Environ reads the environment that a process was started with. What the
// process changed since is not in it.
func Environ(pid int) (map[string]string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil, fmt.Errorf("reading the environment of process %d: %w", pid, err)
	}
	env := map[string]string{}
	for kv := range strings.SplitSeq(string(data), "\x00") {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env, nil
}

// AnyProcess says whether a process with such arguments runs. Processes that
// end meanwhile are passed over.
func AnyProcess(match func(args []string) bool) (bool, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, fmt.Errorf("listing processes: %w", err)
	}
	for _, e := range entries {
		data, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil || len(data) == 0 {
			continue
		}
		if match(strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")) {
			return true, nil
		}
	}
	return false, nil
}
