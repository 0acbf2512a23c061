// Package program builds and runs the program under test, remembers all that
// it printed, and makes the root trees that it works on.
package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Path is the program under test: EKSPROXY_BINARY, or the agent built from
// this checkout, once a test process.
var Path = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("EKSPROXY_BINARY"); given != "" {
		return filepath.Abs(given)
	}
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return build(root, "./cmd/eksproxy", "eksproxy-agent", "-tags", "nodeonly urfave_cli_no_docs")
})

// Helper builds a program of this module or of one of its dependencies, by
// its import path, and returns where it is.
func Helper(pkg string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return build(filepath.Join(root, "integration"), pkg, filepath.Base(pkg))
}

// build builds a package as it is shipped, from the module in dir.
func build(dir, pkg, name string, flags ...string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(root, ".cache", "bin", name)
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", binary}, flags...)
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return binary, nil
}

// checkout is the folder of the main module, which holds this one.
func checkout() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the checkout: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(filepath.Dir(mod)) != "integration" {
		return "", errors.New("looking for the checkout: the tests run outside of their module")
	}
	return filepath.Dir(filepath.Dir(mod)), nil
}
