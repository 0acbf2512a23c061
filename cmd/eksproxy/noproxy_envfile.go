package main

import (
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
)

// parseEnvFile reads assignments as systemd's EnvironmentFile= and a shell do:
// lines NAME=VALUE, with or without "export", quotes around the value taken
// away. What stands behind a closing quote is a part of the value (BL-027), and
// so is the carriage return of a Windows file (BL-015). The last assignment of
// a name holds.
func parseEnvFile(data string) noproxy.Environment {
	env := noproxy.Environment{}
	for line := range strings.SplitSeq(data, "\n") {
		line = strings.TrimLeft(line, " \t")
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		addProxyVariable(env, strings.TrimSpace(name), unquoted(value))
	}
	return env
}

// unquoted takes quotes away that begin at the start of a value.
func unquoted(value string) string {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return value
	}
	inner, rest, ok := strings.Cut(value[1:], value[:1])
	if !ok {
		return value
	}
	return inner + rest
}
