package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

// lockWait is how long a run waits for another one on the same tree.
const lockWait = 30 * time.Second

// lockFile is the lock of the running system; a tree is its own lock, so that
// no file is left in it.
const lockFile = "/run/eksproxy.lock"

func (p *program) nodeCommand() *cli.Command {
	root := &cli.StringFlag{Name: flagRoot, Value: "/", Usage: "`DIR` with the tree of a node, as when an image is built"}
	settings := append(settingFlags(""), root,
		&cli.StringFlag{Name: flagFacts, Usage: "`FILE` that facts node -o json or -o yaml wrote, instead of instance metadata"})
	reason := &cli.StringFlag{Name: "reason", Usage: "`TEXT` that is kept with what was done: the number of the change"}
	restart := &cli.StringFlag{Name: flagRestart, Value: restartAuto, Usage: "restarts of services that run with another environment than they should: auto, never", Action: oneOf(flagRestart, restartAuto, restartNever)}
	onFailure := &cli.StringFlag{Name: flagOnFailure, Value: onFailureKeep, Usage: "where metadata does not answer: keep what is there, fallback to the configured CIDRs where nothing is there, or stop", Action: oneOf(flagOnFailure, onFailureKeep, onFailureFallback, onFailureStop)}
	dryRun := &cli.BoolFlag{Name: "dry-run", Usage: "show the plan and write nothing", DisableDefaultText: true}
	return &cli.Command{
		Name: "node", Usage: "put this node, or the tree of an image, behind the proxy",
		Subcommands: []*cli.Command{
			{
				Name: "plan", Aliases: []string{"diff"}, Usage: "show what apply would change, and write nothing",
				Description: "Examples:\n" +
					"  eksproxy node plan --http-proxy http://proxy.example:3128\n" +
					"  eksproxy node plan --config proxy.yaml --root /mnt/image --vpc-cidr 10.40.0.0/16 --region eu-west-1\n" +
					"  eksproxy node plan --config proxy.yaml --out plan.json -o markdown",
				Flags: append(settings[:len(settings):len(settings)],
					&cli.StringFlag{Name: "out", Usage: "write the plan to `FILE`, to be approved and given to apply --plan"},
					&cli.BoolFlag{Name: "exit-code", Usage: "exit with 1 where there is something to do", DisableDefaultText: true},
					restart,
					&cli.BoolFlag{Name: "diff", Usage: "show each difference in full, as a table's second part", DisableDefaultText: true},
					outputFlag("table", "json", "yaml", "markdown")),
				Action: noArgs(p.nodePlan),
			},
			{
				Name: "apply", Usage: "write the files that put the node behind the proxy",
				Description: "Examples:\n" +
					"  eksproxy node apply --http-proxy http://proxy.example:3128 --credentials-file /root/proxy-login\n" +
					"  eksproxy node apply --config proxy.yaml --reason CHG0012\n" +
					"  eksproxy node apply --plan plan.json",
				Flags: append(settings[:len(settings):len(settings)],
					&cli.StringFlag{Name: "plan", Usage: "`FILE` that plan --out wrote: do just that, or nothing where something has moved"},
					restart, onFailure, reason, dryRun, outputFlag("table", "json", "yaml", "markdown")),
				Action: noArgs(p.nodeApply),
			},
			{
				Name: "status", Usage: "say how the tree stands against what was applied",
				Description: "Examples:\n  eksproxy node status\n  eksproxy node status --root /mnt/image\n  eksproxy node status -o json",
				Flags:       []cli.Flag{root, outputFlag("table", "json", "yaml", "markdown")},
				Action:      noArgs(p.nodeStatus),
			},
			{
				Name: "revert", Usage: "take back what was applied, from the record alone",
				Description: "Examples:\n  eksproxy node revert --dry-run\n  eksproxy node revert\n  eksproxy node revert --root /mnt/image",
				Flags:       []cli.Flag{root, restart, dryRun, outputFlag("table", "json", "yaml", "markdown")},
				Action:      noArgs(p.nodeRevert),
			},
			p.installCommand(settings, onFailure, dryRun),
			p.uninstallCommand(root, dryRun),
		},
	}
}

// inputs are what a written plan was made from.
type inputs struct {
	Settings map[string][]string `json:"settings"`
	Facts    json.RawMessage     `json:"facts,omitempty"`
}

// openRoot opens the tree that --root names.
func openRoot(dir string) (*rootfs.Root, error) {
	root, err := rootfs.Open(dir)
	if err != nil {
		return nil, usage(err)
	}
	return root, nil
}

// walk is one way from settings to a plan for a tree, with what it passed.
type walk struct {
	*node.Prepared
	// proxy is where the node's traffic goes; empty where it is taken back.
	proxy   string
	entries int
	noProxy noproxy.List
	facts   facts.Node
	// running says that reloads and restarts are part of the plan.
	running bool
}

// prepare walks from the settings to a plan for the tree.
func (p *program) prepare(c *cli.Context, root *rootfs.Root, approved *plan.Plan) (*walk, error) {
	w := &walk{}
	layer, planned, err := fromPlan(c.String("plan"), approved)
	if err != nil {
		return w, err
	}
	merged, err := p.settings(c, layer)
	if err != nil {
		return w, err
	}
	cfg, err := p.resolve(c, merged, planned)
	if err != nil {
		return w, err
	}
	p.warn(cfg.Warnings)
	if cfg.Revert() {
		p.talk.Note("both proxies are given as empty: eksproxy's settings are taken back")
		if w.Prepared, err = node.PrepareRevert(root); err != nil {
			return w, err
		}
		return w, addInputs(w.Prepared, merged, nil)
	}
	w.proxy = cfg.HTTPSProxy.HostPort()
	if w.facts, err = p.factsOrFallback(c, root, cfg, planned); err != nil {
		return w, err
	}
	want, err := p.want(root, cfg, w.facts)
	if err != nil {
		return w, err
	}
	w.noProxy, w.entries = want.Settings.NoProxy, len(want.Settings.NoProxy)
	if w.Prepared, err = node.Prepare(root, want); err != nil {
		return w, err
	}
	return w, addInputs(w.Prepared, merged, &w.facts)
}

// want says what must be so on the tree.
func (p *program) want(root *rootfs.Root, cfg proxyconfig.Config, n facts.Node) (node.Desired, error) {
	sys, err := node.Detect(root, cfg.Node.OS, cfg.Node.Runtime)
	if err != nil {
		return node.Desired{}, usage(err)
	}
	list, err := p.compose(n, cfg)
	if err != nil {
		return node.Desired{}, err
	}
	want, err := node.Want(sys, cfg.Settings(list.Entries), cfg.Node)
	return want, usage(err)
}

// addInputs adds to a plan what it was made from.
func addInputs(prepared *node.Prepared, merged proxyconfig.Layer, n *facts.Node) (err error) {
	in := inputs{Settings: merged.Flatten("node")}
	if n != nil {
		if in.Facts, err = json.Marshal(n); err != nil {
			return err
		}
	}
	prepared.Inputs, err = json.Marshal(in)
	return err
}

// fromPlan reads the settings and facts that an approved plan was made from.
func fromPlan(name string, approved *plan.Plan) (proxyconfig.Layer, *facts.Node, error) {
	if approved == nil {
		return nil, nil, nil
	}
	var in inputs
	if err := json.Unmarshal(approved.Inputs, &in); err != nil {
		return nil, nil, usagef("reading the inputs of %s: %w", name, err)
	}
	layer := proxyconfig.FromFlat(name, in.Settings)
	if in.Facts == nil {
		return layer, nil, nil
	}
	n, err := facts.DecodeNode(in.Facts)
	return layer, &n, usage(err)
}

func (p *program) nodePlan(c *cli.Context) error {
	root, err := openRoot(c.String(flagRoot))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	w, err := p.prepare(c, root, nil)
	if err != nil {
		return err
	}
	done, err := p.addRunning(c, w)
	if err != nil {
		return err
	}
	defer done()
	if err := writePlan(c.String("out"), w.Plan); err != nil {
		return err
	}
	if err := p.showPlan(c, root, w); err != nil {
		return err
	}
	if c.Bool("exit-code") && len(w.Pending()) > 0 {
		return errNo
	}
	return nil
}

// writePlan writes a plan to a file that only its owner can read: it shows no
// secret, but the node's files.
func writePlan(name string, pl plan.Plan) error {
	if name == "" {
		return nil
	}
	data, err := json.MarshalIndent(pl, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".eksproxy-plan-*") // mode 0600
	if err != nil {
		return usage(fmt.Errorf("writing the plan: %w", err))
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return usage(fmt.Errorf("writing the plan: %w", errors.Join(err, os.Remove(f.Name()))))
	}
	return nil
}

func (p *program) showPlan(c *cli.Context, root *rootfs.Root, planned *walk) error {
	pl := planned.Plan
	change, err := noProxyChange(root, planned)
	if err != nil {
		return err
	}
	if c.String(flagOutput) == "markdown" {
		return errors.Join(pl.WriteMarkdown(p.Out), change.inMarkdown(p.Out))
	}
	return p.write(c.String(flagOutput), pl, func(w io.Writer) error {
		if err := errors.Join(pl.WriteTable(w), change.inPlan(w)); err != nil || !c.Bool("diff") {
			return err
		}
		return diffs(w, pl)
	})
}

// diffs writes each difference of a plan in full.
func diffs(w io.Writer, pl plan.Plan) error {
	for _, change := range pl.Pending() {
		if _, err := fmt.Fprint(w, "\n"+change.Diff()); err != nil {
			return err
		}
	}
	return nil
}

// lock keeps other runs off the tree.
func lock(ctx context.Context, root *rootfs.Root) (func(), error) {
	name := root.Dir()
	if name == "/" {
		name = lockFile
	}
	return rootfs.Lock(ctx, name, lockWait)
}

func (p *program) nodeApply(c *cli.Context) error {
	approved, err := readPlan(c.String("plan"))
	if err != nil {
		return err
	}
	dir := c.String(flagRoot)
	if approved != nil && !c.IsSet(flagRoot) {
		dir = approved.Target["root"]
		if err := c.Set(flagRoot, dir); err != nil {
			return err
		}
	}
	return p.carryOut(c, dir, approved, func(root *rootfs.Root) (*walk, error) { return p.prepare(c, root, approved) })
}

func readPlan(name string) (*plan.Plan, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage(fmt.Errorf("reading the plan: %w", err))
	}
	pl := new(plan.Plan)
	if err := json.Unmarshal(data, pl); err != nil {
		return nil, usage(fmt.Errorf("reading the plan %s: %w", name, err))
	}
	return pl, nil
}

func (p *program) nodeRevert(c *cli.Context) error {
	return p.carryOut(c, c.String(flagRoot), nil, func(root *rootfs.Root) (*walk, error) {
		prepared, err := node.PrepareRevert(root)
		return &walk{Prepared: prepared}, err
	})
}

// carryOut makes a plan under the lock and carries it out. On the running
// system it is bounded in time and reports to who watches the boot.
func (p *program) carryOut(c *cli.Context, dir string, approved *plan.Plan, prepare func(*rootfs.Root) (*walk, error)) error {
	root, err := openRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // every file was synced
	if c.Bool("dry-run") {
		return p.dryRun(c, root, prepare)
	}
	unlock, err := lock(c.Context, root)
	if err != nil {
		return err
	}
	defer unlock()
	if root.Dir() == "/" {
		ctx, cancel := context.WithTimeoutCause(c.Context, runLimit, errRunLimit)
		defer cancel()
		c.Context = ctx
	}
	r := p.beginReport(c, root)
	w, outcome, err := p.prepareAndApply(c, root, approved, prepare)
	return errors.Join(err, r.end(p, w, outcome, err))
}

func (p *program) dryRun(c *cli.Context, root *rootfs.Root, prepare func(*rootfs.Root) (*walk, error)) error {
	w, err := prepare(root)
	if err != nil {
		return err
	}
	done, err := p.addRunning(c, w)
	if err != nil {
		return err
	}
	defer done()
	return p.showPlan(c, root, w)
}

func (p *program) prepareAndApply(c *cli.Context, root *rootfs.Root, approved *plan.Plan, prepare func(*rootfs.Root) (*walk, error)) (*walk, plan.Outcome, error) {
	w, err := prepare(root)
	if err != nil {
		return w, plan.Outcome{}, err
	}
	done, err := p.addRunning(c, w)
	if err != nil {
		return w, plan.Outcome{}, err
	}
	defer done()
	if approved != nil {
		if moved := approved.Moved(w.Plan); len(moved) > 0 {
			return w, plan.Outcome{}, fmt.Errorf("the approved plan is not what would be done now; nothing was written. Make and approve a new plan:\n  %s", strings.Join(moved, "\n  "))
		}
	}
	outcome, err := w.Apply(c.Context, c.String("reason"))
	return w, outcome, errors.Join(err, p.showOutcome(c, w, outcome))
}
