package bootdata

import (
	"bytes"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bootstrap merges what the calls of bootstrap.sh say. A part that is no shell
// script (it may be Python) says nothing.
func (d Document) bootstrap() claim {
	var merged claim
	for _, p := range d.Parts {
		// Parsing is the dear part, and most scripts never name it.
		if !p.IsShell() || !bytes.Contains(p.Body, []byte(FromBootstrap)) {
			continue
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(p.Body), "")
		if err != nil {
			continue
		}
		for _, call := range bootstrapCalls(file) {
			merged = call.over(merged)
		}
	}
	return merged
}

// bootstrapCalls finds the calls wherever they stand, and resolves variables
// with the assignments that stand before them in the text.
func bootstrapCalls(file *syntax.File) []claim {
	vars := variables{}
	var calls []claim
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				vars.assign(n.Assigns)
			} else if args, ok := bootstrapArgs(vars.words(n.Args)); ok {
				calls = append(calls, parseBootstrap(args))
			}
		case *syntax.DeclClause:
			vars.assign(n.Args)
		case *syntax.WordIter:
			vars.set(n.Name.Value, word{})
		}
		return true
	})
	return calls
}

// bootstrapArgs returns the arguments if the command is bootstrap.sh, also
// behind a program that only runs another.
func bootstrapArgs(words []word) ([]word, bool) {
	behind := false
	for i := 0; i < len(words); i++ {
		text := words[i].text
		switch base := path.Base(text); {
		case base == FromBootstrap:
			return words[i+1:], true
		case isRunner(base):
			behind = true
		case behind && (text == "-u" || text == "-g"):
			i++ // sudo -u USER
		case behind && (strings.HasPrefix(text, "-") || strings.Contains(text, "=")):
		default:
			return nil, false
		}
	}
	return nil, false
}

func isRunner(name string) bool {
	switch name {
	case "sudo", "bash", "sh", "exec", "env", "command", "nohup":
		return true
	}
	return false
}

// parseBootstrap reads the arguments: every flag of bootstrap.sh takes a
// value, and the first word that belongs to no flag is the cluster.
func parseBootstrap(args []word) claim {
	c := claim{from: FromBootstrap}
	named := false
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i].text, "-") {
			if !named {
				c.name, named = args[i].text, true
			}
			continue
		}
		flag, value, ok := strings.Cut(args[i].text, "=")
		if !ok && i+1 < len(args) {
			i++
			value = args[i].text
		}
		switch flag {
		case "--apiserver-endpoint":
			c.endpoint = value
		case "--service-ipv6-cidr":
			c.cidr = value
		case "--dns-cluster-ip":
			c.dnsServer = value
		}
	}
	return c
}
