package program

import "sync"

// Full is the whole program, as it runs on a workstation, built from this
// checkout once a test process.
var Full = sync.OnceValues(func() (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return build(root, "./cmd/eksproxy", "eksproxy-full", "-tags", "urfave_cli_no_docs")
})
