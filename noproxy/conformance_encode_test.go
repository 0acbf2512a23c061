//go:build integration

package noproxy_test

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// realClient is a program that makes one request for a vector, and the model
// that says what it will do.
type realClient struct {
	name  string
	model string
	// needs is a file or program without which it cannot run, and comes from.
	needs, comes string
	// optional clients may be absent, except with FULL=1.
	optional bool
	// driver reads vectors from its standard input, in the form of encode.
	driver []string
	encode func(vector) string
	// fresh says that a vector needs a new driver.
	fresh func(vector) bool
	// once is a program that lives for one vector, without a driver.
	once func(vector) *exec.Cmd
	// skip leaves a vector out, with the reason in a comment beside it.
	skip func(vector) bool
}

func encodeJSON(v vector) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// encodeFields is for drivers without JSON at hand.
func encodeFields(v vector) string {
	fields := []string{v.URL}
	for _, name := range slices.Sorted(maps.Keys(v.Env)) {
		fields = append(fields, name+"="+v.Env[name])
	}
	return strings.Join(fields, "\x1f")
}

// encodeProperties is for Java: the value is given as nonProxyHosts.
func encodeProperties(v vector) string {
	properties := javaProperties(v)
	field := func(name string) string {
		if value, set := properties[name]; set {
			return value
		}
		return "\x1e"
	}
	return strings.Join([]string{field("http.proxyHost"), field("http.proxyPort"), field("http.nonProxyHosts"), v.URL}, "\x1f")
}

// javaProperties are what a value vector is for the JDK. One without NO_PROXY
// stays without properties, as in a pod that has variables only.
func javaProperties(v vector) map[string]string {
	value, set := v.Env["NO_PROXY"]
	if !set || v.variables {
		return v.Env
	}
	return map[string]string{
		"http.proxyHost": "127.0.0.1", "https.proxyHost": "127.0.0.1", "http.proxyPort": "3128",
		"http.nonProxyHosts": strings.ReplaceAll(value, ",", "|"),
	}
}

func withEnv(cmd *exec.Cmd, v vector, more ...string) *exec.Cmd {
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin:/sbin", "HOME=/nonexistent", "LC_ALL=C.UTF-8"}, more...)
	for name, value := range v.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}
