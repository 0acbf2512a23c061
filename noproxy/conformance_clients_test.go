//go:build integration

package noproxy_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/noproxy"
)

// realClients are all of them; cache is where setup.sh puts what Debian lacks.
func realClients(cache string) []realClient {
	return slices.Concat(systemClients(), pythonClients(cache), nodeClients(cache), goClients(cache), optionalClients(cache))
}

func systemClients() []realClient {
	curl := func(v vector) *exec.Cmd {
		return withEnv(exec.Command("curl", "-q", "-s", "-k", "--max-time", "5", "-o", "/dev/null", v.URL), v)
	}
	wget := func(v vector) *exec.Cmd {
		return withEnv(exec.Command("wget", "-q", "--no-config", "--tries=1", "--timeout=5", "--no-hsts", "--no-check-certificate", "-O", "/dev/null", v.URL), v)
	}
	git := func(v vector) *exec.Cmd {
		return withEnv(exec.Command("git", "-c", "http.sslVerify=false", "ls-remote", v.URL), v, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1")
	}
	// git lets an empty variable in lower case hide all others, curl does not.
	emptyLower := func(v vector) bool {
		for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
			if value, set := v.Env[name]; set && value == "" {
				return true
			}
		}
		return false
	}
	// This release hands brackets to the resolver: it reaches no IPv6 address.
	brackets := func(v vector) bool { return strings.Contains(v.URL, "[") }
	return []realClient{
		{name: "curl", model: "curl 7.86-8.8", needs: "curl", comes: "curl", once: curl},
		{name: "git", model: "curl 7.86-8.8", needs: "git", comes: "git", once: git, skip: emptyLower},
		{name: "wget", model: "wget", needs: "wget", comes: "wget", once: wget},
		{name: "apt", model: "apt", needs: "/usr/lib/apt/methods/http", comes: "apt", once: apt},
		{name: "Ruby", model: "Ruby Net::HTTP", needs: "ruby", comes: "ruby", driver: []string{"ruby", drivers("driver.rb"), "net"}},
		{
			name: "aws-sdk-ruby", model: "AWS SDK Ruby", needs: "/usr/share/doc/ruby-aws-sdk-core", comes: "ruby-aws-sdk-core",
			driver: []string{"ruby", drivers("driver.rb"), "aws"}, optional: true, skip: brackets,
		},
	}
}

// apt asks the method program that apt-get starts, in its own language.
func apt(v vector) *exec.Cmd {
	scheme, _, _ := strings.Cut(v.URL, ":")
	cmd := withEnv(exec.Command("timeout", "5", "/usr/lib/apt/methods/"+scheme), v)
	cmd.Stdin = strings.NewReader("601 Configuration\nConfig-Item: APT::Sandbox::User=root\nConfig-Item: Acquire::Retries=0\n" +
		"Config-Item: Acquire::https::Verify-Peer=false\n\n600 URI Acquire\nURI: " + v.URL + "x\nFilename: /dev/null\n\n")
	return cmd
}

func drivers(name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", "clients", name))
	if err != nil {
		panic(err)
	}
	return path
}

func pythonClients(cache string) []realClient {
	var clients []realClient
	for _, c := range [][2]string{
		{"urllib", "Python urllib"}, {"requests", "requests, pip"}, {"pip", "requests, pip"}, {"urllib3", "urllib3"},
		{"botocore", "botocore, AWS CLI"}, {"aiohttp", "aiohttp"}, {"httpx", "httpx"},
	} {
		python := filepath.Join(cache, "python/bin/python")
		clients = append(clients, realClient{
			name: c[0], model: c[1], needs: python, comes: "python3-venv",
			driver: []string{python, drivers("driver.py"), c[0]},
		})
	}
	return clients
}

func nodeClients(cache string) []realClient {
	node, driver := filepath.Join(cache, "node/node"), filepath.Join(cache, "node/driver.mjs")
	variables := func(v vector) bool { return v.variables }
	client := func(name, model, kind string, flags ...string) realClient {
		return realClient{
			name: name, model: model, needs: node, comes: "npm",
			driver: slices.Concat([]string{node}, flags, []string{driver, kind}),
		}
	}
	// Node itself reads the proxies once, when it starts.
	global := client("Node --use-env-proxy", "Node core http", "global", "--use-env-proxy")
	global.fresh, global.skip = variables, func(v vector) bool { return !v.variables }
	fetch := client("Node fetch", "Node fetch, undici 7", "fetch", "--use-env-proxy")
	fetch.fresh = variables
	return []realClient{
		global, fetch,
		// The agent alone lives with a proxy without scheme.
		withSkip(client("Node http.Agent", "Node core http", "core"), variables),
		client("undici 7", "Node fetch, undici 7", "undici7"),
		client("undici 6", "undici 6", "undici6"),
		client("axios", "axios", "axios"),
		client("proxy-agent", "proxy-from-env", "proxy-agent"),
		client("got", "got", "got"),
		client("AWS SDK JS v3", "AWS SDK JS v3", "aws"),
	}
}

func withSkip(c realClient, skip func(vector) bool) realClient {
	c.skip = skip
	return c
}

func goClients(cache string) []realClient {
	driver := filepath.Join(cache, "godriver")
	always := func(vector) bool { return true }
	return []realClient{
		{name: "Go std", model: "Go std <= 1.26", needs: driver, comes: "golang", driver: []string{driver, "std"}, fresh: always},
		{name: "x/net", model: "x/net >= 0.59", needs: driver, comes: "golang", driver: []string{driver, "xnet"}},
	}
}

// optionalClients run where they are installed.
func optionalClients(cache string) []realClient {
	java := realClient{
		name: "JDK", model: "JDK", needs: filepath.Join(cache, "java/Driver.class"), comes: "default-jdk-headless",
		driver: []string{"java", "-Xshare:auto", "-cp", filepath.Join(cache, "java"), "Driver"}, encode: encodeProperties,
	}
	// Debian's dnf has curl 7.88, the model that of Amazon Linux.
	dnf := realClient{
		name: "dnf (librepo)", model: "dnf", needs: "/usr/lib/python3/dist-packages/librepo", comes: "python3-librepo",
		driver: []string{"/usr/bin/python3", drivers("driver.py"), "dnf"}, skip: curlsDiffer,
	}
	clients := []realClient{
		java, dnf,
		{
			name: "PHP ext-curl", model: "curl 7.86-8.8", needs: "php", comes: "php-cli php-curl",
			driver: []string{"php", drivers("driver.php"), "curl"},
		},
		{
			name: "Guzzle", model: "Guzzle", needs: "/usr/share/php/GuzzleHttp", comes: "php-cli php-curl php-guzzlehttp-guzzle",
			driver: []string{"php", drivers("driver.php"), "guzzle"},
			// psr7 cannot read such a URL back.
			skip: func(v vector) bool { return strings.Contains(v.URL, ":0::24]") },
		},
	}
	clients = append(clients, rustClients(cache)...)
	for i := range clients {
		clients[i].optional = true
	}
	return clients
}

// rustClients are reqwest and libcurl in the versions that Debian lacks.
func rustClients(cache string) []realClient {
	var clients []realClient
	for _, c := range [][3]string{
		{"reqwest", "hyper-util, reqwest", "reqwest"},
		{"libcurl 7.83.1", "curl < 7.86", "curl-sys-0.4.56"},
		{"libcurl 8.1.2", "curl 7.86-8.8", "curl-sys-0.4.63"},
		{"libcurl 8.9.0", "curl 8.9-8.17", "curl-sys-0.4.74"},
		{"libcurl 8.15.0", "curl 8.9-8.17", "curl-sys-0.4.83"},
		{"libcurl 8.19.0", "curl >= 8.18", "curl-sys-0.4.86"},
	} {
		path := filepath.Join(cache, c[2])
		clients = append(clients, realClient{name: c[0], model: c[1], needs: path, comes: "cargo libssl-dev", driver: []string{path}, encode: encodeFields})
	}
	return clients
}

// curlsDiffer leaves out what curl 7.88 and 8.9 read differently.
func curlsDiffer(v vector) bool {
	target, err := noproxy.ParseTarget(v.URL)
	if err != nil {
		panic(fmt.Sprintf("vectors have URLs that can be read: %v", err))
	}
	var decisions []noproxy.Decision
	for _, name := range []string{"curl 7.86-8.8", "curl 8.9-8.17"} {
		c, _ := noproxy.FindClient(name)
		decisions = append(decisions, c.Prepare(v.Env).Decide(target).Decision)
	}
	return decisions[0] != decisions[1]
}
