// Package integration tests the built eksproxy program as a black box against
// parts that behave like the real ones: an instance metadata server with
// faults, a second metadata server that others wrote, a proxy that records,
// network namespaces, and root trees of every node family. It imports nothing
// of the program.
//
//	go test ./...                            builds ../cmd/eksproxy and tests it
//	EKSPROXY_BINARY=/path/to/it go test ./... tests that program instead
//
// The tests in network namespaces need root and iproute2. Whatever the program
// prints in any test is searched for the passwords of the tests at the end.
package integration
