package controlplane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The kernel gives outgoing connections and ":0" listeners ports from 32768 on.
// Ports below go to control planes in blocks, each with a lock: between the look
// at a port and the component's own listen, another control plane of this machine
// could take it.
const (
	lowestPort = 20000
	blockSize  = 10
	blocks     = 1200
)

// takePorts takes n ports of 127.0.0.1 on which nobody listens. They are kept
// until the lock is closed, or this process ends.
func takePorts(n int) (ports []int, lock *os.File, err error) {
	const dir = "/tmp/eksproxy-ports" // one for the machine, whatever TMPDIR is
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, fmt.Errorf("taking ports: %w", err)
	}
	for range 1000 {
		block := rand.IntN(blocks)
		lock, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(block)), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, nil, fmt.Errorf("taking ports: %w", err)
		}
		first := lowestPort + block*blockSize
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && free(first, n) {
			for i := range n {
				ports = append(ports, first+i)
			}
			return ports, lock, nil
		}
		lock.Close()
	}
	return nil, nil, errors.New("taking ports: too few are free")
}

// free says that nobody listens on n ports.
func free(first, n int) bool {
	for i := range n {
		listener, err := net.Listen("tcp", local(first+i))
		if err != nil {
			return false
		}
		listener.Close()
	}
	return true
}

// local is the address of a port.
func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
