// Package bench measures what one "eksproxy node apply" costs on a fresh tree
// of a node, always beside something else that does the same work in the same
// minute, because the machine is shared:
//
//   - recipe.sh, the shell recipe that is published for EKS: how many times
//     less CPU the agent takes, with all the processes that each starts
//   - cmd/bare, a Go program that sends the same requests and makes the same
//     writes durable, and does nothing else: how much longer the agent takes
//
// It also prints the size of the program, its peak memory, and whether a
// second run writes anything.
//
//	go test -count=1 -v ./bench -args -runs 40           prints the figures
//	go test -count=1 -v ./bench -args -runs 40 -enforce  fails where one misses its target
//
// cluster_test.go measures addons patch on many workload namespaces of a real API
// server beside a bare loop and beside kubectl; -namespaces 500 is what counts.
//
// Without arguments it makes a few runs, which only proves that it works.
package bench
