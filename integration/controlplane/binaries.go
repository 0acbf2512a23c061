package controlplane

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// binaries is the folder with the programs. It asks build.sh, once a test
// process, whether all are there and built from the modules of this checkout.
var binaries = sync.OnceValues(func() (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	script := filepath.Join(root, "integration", "controlplane", "build.sh")
	if out, err := exec.Command(script, "check").CombinedOutput(); err != nil {
		return "", fmt.Errorf("looking for the programs of the control plane: %w\n%s", err, out)
	}
	return filepath.Join(root, ".cache", "kube"), nil
})

// checkout is the folder of the main module, asked from it or from the module
// of the tests.
func checkout() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the checkout: %w", err)
	}
	dir := filepath.Dir(strings.TrimSpace(string(out)))
	if dir == "." {
		return "", errors.New("looking for the checkout: this runs outside of a module")
	}
	if filepath.Base(dir) == "integration" {
		dir = filepath.Dir(dir)
	}
	return dir, nil
}
