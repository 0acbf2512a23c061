// Command metadata-server serves instance metadata for tests by hand and for
// other suites. It prints its URL when it is ready and serves until SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/eksproxy/eksproxy/integration/metadata"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "metadata-server:", err)
		os.Exit(1)
	}
}

// list is a flag that may be given more than once.
type list []string

// String is the flag's value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set adds a value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// run parses the arguments and serves until ctx is done.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	var v4, v6 list
	flags := flag.NewFlagSet("metadata-server", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "`address` to serve on")
	region := flags.String("region", "eu-west-1", "AWS region")
	domain := flags.String("domain", "amazonaws.com", "domain of AWS services")
	role := flags.String("role", "", "`name` of the instance's role, empty for none")
	userData := flags.String("user-data", "", "`file` with user data")
	flags.Var(&v4, "vpc-cidr", "IPv4 block of the VPC, may be repeated")
	flags.Var(&v6, "vpc-ipv6-cidr", "IPv6 block of the VPC, may be repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	instance := metadata.NewInstance(v4...)
	instance.Region, instance.Domain, instance.Role = *region, *domain, *role
	instance.Interfaces[0].VPCIPv6 = v6
	if *userData != "" {
		data, err := os.ReadFile(*userData)
		if err != nil {
			return fmt.Errorf("reading user data: %w", err)
		}
		instance.UserData = data
	}
	return serve(ctx, *listen, instance, stdout)
}

// serve prints the URL and serves until ctx is done.
func serve(ctx context.Context, address string, i metadata.Instance, stdout io.Writer) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serving metadata: %w", err)
	}
	server := &http.Server{Handler: metadata.NewServer(i)}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return fmt.Errorf("serving metadata: %w", err)
	}
	return nil
}
