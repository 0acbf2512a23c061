package userdata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/templates"
)

// noProxyMark stands in a body of an item where the script puts NO_PROXY, which
// is known at boot only.
const noProxyMark = "eksproxy-no-proxy-at-boot"

// heredocEnd ends the texts in a script.
const heredocEnd = "EOF"

// staticScript is a script that makes the same files as "node apply" does, on
// a node that has nothing of ours.
func staticScript(in Input, when string) (string, error) {
	want, err := in.desired()
	if err != nil {
		return "", err
	}
	list, err := in.segments()
	if err != nil {
		return "", err
	}
	w := &scriptWriter{items: want.Items, family: want.System.Family, pinned: in.Config.Node.Runtime != ""}
	limit := w.family.NoProxyLimit()
	fits := limit > 0 && slices.ContainsFunc(w.items, node.Item.IsEtcEnvironment)
	text := fill(templates.UserDataHead, "%WHEN%", when, "%SECONDS%", "120") + list.script(fits)
	if fits {
		text += fill(templates.UserDataFit, "%LIMIT%", strconv.Itoa(limit))
	}
	body, err := w.body()
	if err != nil {
		return "", err
	}
	return text + body + "[ \"$failed\" -eq 0 ]\n", nil
}

// desired are the items of a node, with the mark for NO_PROXY. Both runtimes
// have theirs where none is given: the node says which one it has.
func (in Input) desired() (node.Desired, error) {
	sys := node.System{Family: node.Family(in.OS), Runtimes: node.Runtimes()}
	if r := in.Config.Node.Runtime; r != "" {
		sys.Runtimes = []string{r}
	}
	settings := in.Config.Settings(noproxy.List{{Text: noProxyMark}})
	settings.KeepCredentials = false // nothing of ours is there to read the copy
	return node.Want(sys, settings, in.Config.Node)
}

// scriptWriter writes the items as a script.
type scriptWriter struct {
	items  []node.Item
	family node.Family
	// pinned says that the runtime is given and not looked for.
	pinned bool
}

// body is the functions that the items need, the items, and what follows from
// them.
func (w *scriptWriter) body() (string, error) {
	var files strings.Builder
	files.WriteByte('\n')
	dropIns := ""
	for _, i := range w.items {
		text, err := w.item(i)
		if err != nil {
			return "", err
		}
		if i.DropInUnit() == "" {
			files.WriteString(text)
		} else if dropIns == "" { // all of them are the same file
			dropIns = w.dropIns(i)
		}
	}
	return w.functions() + w.shared(files.String()+dropIns) + w.trust() + w.services(), nil
}

func (w *scriptWriter) has(kind node.Kind) bool {
	return slices.ContainsFunc(w.items, func(i node.Item) bool { return i.Kind == kind })
}

// functions are those that the items need.
func (w *scriptWriter) functions() string {
	text := ""
	if w.has(node.Block) || w.has(node.Keys) {
		text += templates.UserDataOld
	}
	if w.has(node.Block) {
		text += templates.UserDataBlock
	}
	if w.has(node.Keys) {
		i := slices.IndexFunc(w.items, func(i node.Item) bool { return i.Kind == node.Keys })
		text += fill(templates.UserDataKeys, "%SECTION%", w.items[i].Section)
	}
	return text
}

// item is the command that makes one file so.
func (w *scriptWriter) item(i node.Item) (string, error) {
	mode := strconv.FormatUint(uint64(i.Mode), 8)
	switch {
	case i.Secret:
		mode = "600"
	case i.Kind != node.Whole:
		mode = "-"
	}
	command, body := "cat", string(i.Body)
	switch i.Kind {
	case node.Block:
		command = "set_block"
	case node.Keys:
		command, body = "set_keys", keyLines(i.Options())
	case node.Whole:
	default:
		return "", fmt.Errorf("rendering %s: a script cannot make a %s; allowed are whole files, blocks and keys", i.Path, i.Kind)
	}
	return put(i.Path, mode, command, body, w.noProxyOf(i))
}

func (w *scriptWriter) noProxyOf(i node.Item) string {
	if i.IsEtcEnvironment() && w.family.NoProxyLimit() > 0 {
		return "$fitted"
	}
	return "$no_proxy"
}

func keyLines(options []node.Option) string {
	var b strings.Builder
	for _, o := range options {
		b.WriteString(o.Name)
		if o.Present {
			b.WriteString("=" + o.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// put is the call that writes a file. A text with a variable in it is expanded
// by the shell, so that nothing else in it may be.
func put(path, mode, command, body, variable string) (string, error) {
	quoted := "'" + heredocEnd + "'"
	if plain := strings.ReplaceAll(body, noProxyMark, variable); plain != body {
		if strings.ContainsAny(body, "$`\\") {
			return "", fmt.Errorf("rendering %s: the text holds a byte that a shell changes; use --mode agent", path)
		}
		body, quoted = plain, heredocEnd
	}
	if !strings.HasSuffix(body, "\n") || slices.Contains(strings.Split(body, "\n"), heredocEnd) {
		return "", fmt.Errorf("rendering %s: the text cannot stand in a script; use --mode agent", path)
	}
	return fmt.Sprintf("put %s %s %s <<%s\n%s%s\n", path, mode, command, quoted, body, heredocEnd), nil
}

// shared gives what several files have in common a variable: user data is
// short. The texts are free of what a shell changes.
func (w *scriptWriter) shared(script string) string {
	for _, v := range []struct{ name, text string }{{"note", templates.NodeProxyEnv}, {"env", w.environment()}} {
		text := strings.TrimSuffix(v.text, "\n")
		if text == "" || strings.Count(script, text+"\n") < 2 {
			continue
		}
		script = strings.ReplaceAll(script, text+"\n", "$"+v.name+"\n")
		at := strings.Index(script, "put ")
		script = script[:at] + v.name + "=\"" + strings.ReplaceAll(text, `"`, `\"`) + "\"\n" + script[at:]
	}
	return strings.NewReplacer("<<'"+heredocEnd+"'\n$", "<<"+heredocEnd+"\n$").Replace(script)
}

// environment is the body of the block in /etc/environment, as the script has
// it.
func (w *scriptWriter) environment() string {
	for _, i := range w.items {
		if i.IsEtcEnvironment() {
			return strings.ReplaceAll(string(i.Body), noProxyMark, w.noProxyOf(i))
		}
	}
	return ""
}

// dropIns writes those of all services in one loop.
func (w *scriptWriter) dropIns(one node.Item) string {
	var runtimes, units []string
	for _, i := range w.items {
		switch unit := i.DropInUnit(); {
		case unit == "":
		case !w.pinned && slices.Contains(node.Runtimes(), unit):
			runtimes = append(runtimes, unit)
		default:
			units = append(units, unit)
		}
	}
	text, names := "\n", strings.Join(units, " ")
	if len(runtimes) > 0 {
		text = templates.UserDataRuntime
		names = strings.TrimSpace("${units:-" + strings.Join(node.Runtimes(), " ") + "} " + names)
	}
	skip := ""
	for _, r := range node.Runtimes() {
		if len(runtimes) == 1 && runtimes[0] != r { // switched off
			skip = "  [ \"$unit\" != " + r + " ] || continue\n"
		}
	}
	path := strings.Replace(one.Path, one.DropInUnit()+".service.d", "$unit.service.d", 1)
	return fmt.Sprintf("%sfor unit in %s; do\n%s  put \"%s\" %o cat <<'%s'\n%s%s\ndone\n", text, names, skip, path, one.Mode, heredocEnd, one.Body, heredocEnd)
}

// fill puts values for the words in percent signs of a template.
func fill(template string, wordsAndValues ...string) string {
	return strings.NewReplacer(wordsAndValues...).Replace(template)
}

// secretIn says whether the configuration holds credentials.
func secretIn(cfg proxyconfig.Config) bool {
	return cfg.HTTPProxy.HasCredentials() || cfg.HTTPSProxy.HasCredentials()
}
