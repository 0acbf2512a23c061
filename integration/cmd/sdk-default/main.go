// Command sdk-default prints the IPv4 blocks of the VPC as the AWS SDK's own
// metadata client gets them. That client obeys the proxy variables, so it is
// the control of the tests that say eksproxy does not.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sdk-default:", err)
		os.Exit(1)
	}
}

// run prints the blocks.
func run(ctx context.Context, stdout io.Writer) error {
	client := imds.New(imds.Options{})
	mac, err := get(ctx, client, "mac")
	if err != nil {
		return err
	}
	blocks, err := get(ctx, client, "network/interfaces/macs/"+mac+"/vpc-ipv4-cidr-blocks")
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, blocks)
	return nil
}

// get reads one metadata value.
func get(ctx context.Context, client *imds.Client, path string) (string, error) {
	out, err := client.GetMetadata(ctx, &imds.GetMetadataInput{Path: path})
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	defer out.Content.Close()
	text, err := io.ReadAll(out.Content)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return string(text), nil
}
