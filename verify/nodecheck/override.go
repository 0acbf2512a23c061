package nodecheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/verify"
)

// metadataAddress is where instance metadata answers over IPv4.
const metadataAddress = "169.254.169.254"

// overrides looks for what others set over ours, and for what they set besides
// it and mean something by.
func (s *subject) overrides(context.Context) []verify.Finding {
	var found []verify.Finding
	for _, name := range s.record.Units {
		svc := s.service(name)
		if !slices.Contains(svc.dropIns, node.DropInPath(name)) {
			continue // that it is missing is the finding of another check
		}
		found = append(found, s.overridden(svc)...)
		found = append(found, s.ineffective(svc)...)
	}
	found = append(found, s.managerProxy()...)
	found = append(found, s.nodeConfigs()...)
	return orPass(found, "in each unit of ours the values of %s decide", node.ProxyEnvPath)
}

// overridden are the files of others that decide a variable of a unit.
func (s *subject) overridden(svc service) []verify.Finding {
	env := s.effective(svc)
	what := map[string][]string{}
	var order []string
	for _, name := range node.Variables() {
		set := env[name]
		if set.source == node.ProxyEnvPath || !set.unset && set.value == s.ours[name] {
			continue
		}
		if set.via == "" { // reset by an empty EnvironmentFile= behind ours
			set.via = s.resets(svc)
		}
		if _, ok := what[set.via]; !ok {
			order = append(order, set.via)
		}
		what[set.via] = append(what[set.via], describe(name, set))
	}
	var found []verify.Finding
	for _, via := range order {
		found = append(found, fail(svc.name, "mv "+via+" "+via+".off && systemctl daemon-reload && systemctl try-restart "+svc.name,
			"%s decides over our drop-in: %s", via, strings.Join(what[via], ", ")))
	}
	return found
}

func describe(name string, set setting) string {
	switch {
	case set.unset:
		return "it unsets " + name
	case set.source == "":
		return "it drops our EnvironmentFile=, so there is no " + name
	case set.source != set.via:
		return "it takes " + name + " from " + set.source
	}
	return "it sets " + name
}

// resets is the last drop-in that empties EnvironmentFile=.
func (s *subject) resets(svc service) string {
	for _, d := range slices.Backward(svc.directives) {
		if d.name == "EnvironmentFile" && d.value == "" {
			return d.file
		}
	}
	return node.DropInPath(svc.name)
}

// ineffective are Environment= lines with another proxy: they never win over an
// EnvironmentFile=, and who wrote them does not know it.
func (s *subject) ineffective(svc service) []verify.Finding {
	var found []verify.Finding
	for _, d := range svc.directives {
		if d.section != "Service" || d.name != "Environment" {
			continue
		}
		for _, word := range splitWords(d.value) {
			a, ok := assign(word)
			if ok && !isList(a.name) && bare(a.value) != bare(s.ours[a.name]) {
				found = append(found, warn(svc.name, takeOutOf(d.file), "%s sets %s=%s by Environment=, which has no effect beside our EnvironmentFile=", d.file, a.name, bare(a.value)))
				break
			}
		}
	}
	return found
}

func takeOutOf(file string) string {
	return fmt.Sprintf("take the proxy variables out of %s, then systemctl daemon-reload", file)
}

// managerProxy are DefaultEnvironment= lines with another proxy: what every
// service without our drop-in gets.
func (s *subject) managerProxy() []verify.Finding {
	var found []verify.Finding
	for _, d := range s.managerDirectives() {
		for _, word := range splitWords(d.value) {
			if a, ok := assign(word); ok && s.misleads(a.name, a.value) {
				found = append(found, fail(d.file, takeOutOf(d.file), "DefaultEnvironment= of every service without our drop-in: %s", s.whyMisleads(a.name, a.value)))
			}
		}
	}
	return found
}

// misleads says whether a value of others is another proxy than ours, or a list
// that sends metadata through the proxy.
func (s *subject) misleads(name, value string) bool { return s.whyMisleads(name, value) != "" }

func (s *subject) whyMisleads(name, value string) string {
	switch {
	case isList(name) && !slices.Contains(entries(value), metadataAddress):
		return name + " lacks " + metadataAddress
	case !isList(name) && bare(value) != bare(s.ours[name]):
		return fmt.Sprintf("%s=%s, and %s says %s", name, bare(value), node.ProxyEnvPath, bare(s.ours[name]))
	}
	return ""
}
