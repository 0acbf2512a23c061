package controlplane

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// The kernel gives outgoing connections and ":0" listeners ports from 32768
// on. Ports below are taken by nobody between the look and the component's
// own listen.
const lowestPort, highestPort = 20000, 32000

// freePorts finds ports of 127.0.0.1 on which nobody listens.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := net.Listen("tcp", local(port))
		if err != nil {
			continue
		}
		defer listener.Close() // kept until all are found, so that no two are the same
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("looking for free ports: too few")
}

// local is the address of a port.
func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
