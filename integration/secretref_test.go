package integration

import (
	"encoding/json"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/metadata"
	"github.com/eksproxy/eksproxy/integration/moto"
	"github.com/eksproxy/eksproxy/integration/program"
)

// keptPath is the copy of fetched credentials in a tree.
const keptPath = "etc/eksproxy/credentials"

// withRole is the instance of these tests.
func withRole() metadata.Instance {
	i := twoBlocks()
	i.Role = "node-role"
	return i
}

// login is what a person writes for the test's user and password.
func login() string { return secret.User + ":" + secret.Password }

// fields is JSON of these names and values, by turns.
func fields(t *testing.T, words ...string) string {
	t.Helper()
	object := map[string]string{}
	for i := 0; i < len(words); i += 2 {
		object[words[i]] = words[i+1]
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// aws are the variables that send both services to this URL.
func aws(url string) []string {
	return []string{"AWS_ENDPOINT_URL_SECRETS_MANAGER=" + url, "AWS_ENDPOINT_URL_SSM=" + url}
}

// applyRef applies with credentials from a reference.
func applyRef(t *testing.T, root, imds, endpoint, ref string) program.Result {
	t.Helper()
	return program.Run(t, aws(endpoint), node("apply", root, "--imds-endpoint", imds,
		"--http-proxy", httpProxy, "--credentials-from", ref)...)
}

// checkLogin fails where the run failed, or the tree has other credentials.
func checkLogin(t *testing.T, root string, r program.Result, user, password string) {
	t.Helper()
	if r.Code != 0 {
		t.Fatalf("exit %d, want 0\n%s", r.Code, r.Stderr)
	}
	for _, name := range []string{"http_proxy", "HTTPS_PROXY"} {
		u, err := url.Parse(variable(t, root, name))
		if err != nil {
			t.Fatalf("%s is no URL", name) // its error would quote it
		}
		if got, _ := u.User.Password(); u.User.Username() != user || got != password {
			t.Errorf("%s has not the credentials that were to be fetched", name)
		}
	}
	if read(t, root, keptPath) != user+":"+password+"\n" {
		t.Errorf("%s is not the fetched credentials on one line", keptPath)
	}
	checkFiles(t, root)
}

// Credentials come from moto's Secrets Manager and SSM in every form, and a
// second run changes nothing.
func TestCredentialsFromAWS(t *testing.T) {
	server := moto.Start(t, "127.0.0.1")
	_, imds := serve(t, withRole())
	pair := fields(t, "username", secret.User, "password", secret.Password, "host", "proxy.example")
	arn := server.PutSecret(t, "corp/text", login())
	server.PutSecret(t, "corp/json", pair)
	server.PutSecret(t, "corp/user-and-key", fields(t, "username", secret.User, "proxyPassword", secret.Password))
	server.PutSecret(t, "corp/key", fields(t, "proxy", login(), "other", "x:y"))
	server.PutParameter(t, "/corp/proxy", "SecureString", login())
	server.PutParameter(t, "plain", "String", pair)
	for name, ref := range map[string]string{
		"text by ARN":      "secretsmanager:" + arn,
		"text by name":     "secretsmanager:corp/text",
		"JSON":             "secretsmanager:corp/json",
		"key of password":  "secretsmanager:corp/user-and-key#proxyPassword",
		"key of both":      "secretsmanager:corp/key#proxy",
		"SecureString":     "ssm:/corp/proxy",
		"one of a version": "ssm:/corp/proxy:1",
		"JSON in a String": "ssm:plain",
	} {
		t.Run(name, func(t *testing.T) {
			root := program.Tree(t, "al2023")
			before := program.Snapshot(t, root)
			checkLogin(t, root, applyRef(t, root, imds, server.URL, ref), secret.User, secret.Password)
			check := untouched(t, root)
			if r := applyRef(t, root, imds, server.URL, ref); r.Code != 0 || !strings.Contains(r.Stdout, "unchanged") {
				t.Errorf("second run: exit %d, %s\n%s", r.Code, r.Stdout, r.Stderr)
			}
			check()
			program.Expect(t, 0, node("revert", root)...)
			if diff := program.Diff(before, program.Snapshot(t, root)); diff != "" {
				t.Errorf("revert does not give back the tree:\n%s", diff)
			}
		})
	}
	t.Run("rotation and loss", func(t *testing.T) { checkRotation(t, server, imds) })
	t.Run("configuration", func(t *testing.T) { checkRemoteConfig(t, server, imds) })
	t.Run("refusals", func(t *testing.T) { checkRefusals(t, server, imds) })
	t.Run("past the proxy", func(t *testing.T) { checkPastTheProxy(t, server) })
}

// checkRotation changes the value, and then takes the service away.
func checkRotation(t *testing.T, server moto.Server, imds string) {
	t.Helper()
	const ref = "secretsmanager:corp/rotated"
	root := program.Tree(t, "al2023")
	server.PutSecret(t, "corp/rotated", login())
	checkLogin(t, root, applyRef(t, root, imds, server.URL, ref), secret.User, secret.Password)
	next := "next-" + secret.Password
	server.PutSecret(t, "corp/rotated", secret.User+":"+next)
	checkLogin(t, root, applyRef(t, root, imds, server.URL, ref), secret.User, next)

	check := untouched(t, root)
	for name, lose := range map[string]func() (imds, endpoint string){
		"nobody there": func() (string, string) { return imds, "http://127.0.0.1:1" },
		"no role": func() (string, string) {
			_, other := serve(t, twoBlocks())
			return other, server.URL
		},
		"no longer credentials": func() (string, string) {
			server.PutSecret(t, "corp/rotated", secret.Core)
			return imds, server.URL
		},
	} {
		imds, endpoint := lose()
		r := applyRef(t, root, imds, endpoint, ref)
		checkLogin(t, root, r, secret.User, next)
		if !strings.Contains(r.Stderr, "warning: used the credentials kept in /etc/eksproxy/credentials: fetching "+ref+": ") {
			t.Errorf("%s: no warning with the cause:\n%s", name, r.Stderr)
		}
	}
	check()
	server.DeleteSecret(t, "corp/rotated")
	r := applyRef(t, root, imds, server.URL, ref)
	if r.Code != 0 || !strings.Contains(r.Stderr, "there is no corp/rotated in eu-west-1") {
		t.Errorf("deleted: exit %d\n%s", r.Code, r.Stderr)
	}
	if err := os.Chmod(filepath.Join(root, keptPath), 0o622); err != nil {
		t.Fatal(err)
	}
	if r := applyRef(t, root, imds, server.URL, ref); r.Code != 3 || !strings.Contains(r.Stderr, "others can write") {
		t.Errorf("a copy that others can write: exit %d, want 3\n%s", r.Code, r.Stderr)
	}
}

// checkRemoteConfig takes the whole configuration from SSM.
func checkRemoteConfig(t *testing.T, server moto.Server, imds string) {
	t.Helper()
	const head = "apiVersion: eksproxy.dev/v1alpha1\nkind: ProxyConfig\nspec:\n  httpProxy: " + httpProxy + "\n"
	server.PutParameter(t, "/corp/login", "SecureString", login())
	server.PutParameter(t, "/corp/config", "String", head+"  credentials:\n    from: ssm:/corp/login\n")
	server.PutParameter(t, "/corp/relative", "String", head+"  credentials:\n    file: proxy-login\n")
	server.PutParameter(t, "/corp/typo", "String", head+"  typo: 1\n")
	run := func(root, name string, env ...string) program.Result {
		args := node("apply", root, "--imds-endpoint", imds)
		if name != "" {
			args = append(args, "--config", name)
		}
		return program.Run(t, append(env, aws(server.URL)...), args...)
	}
	root := program.Tree(t, "al2023")
	checkLogin(t, root, run(root, "ssm:/corp/config"), secret.User, secret.Password)
	root = program.Tree(t, "ubuntu")
	checkLogin(t, root, run(root, "", "EKSPROXY_CONFIG=ssm:/corp/config"), secret.User, secret.Password)
	for name, c := range map[string]struct {
		code int
		says []string
	}{
		"ssm:/corp/relative": {2, []string{"ssm:/corp/relative:6: ", "the whole path"}},
		"ssm:/corp/typo":     {2, []string{"ssm:/corp/typo:5:3: ", "typo"}},
		"ssm:/corp/none":     {3, []string{"reading the configuration: fetching ssm:/corp/none", "ParameterNotFound", "nothing was written"}},
	} {
		root := program.Tree(t, "al2023")
		check := untouched(t, root)
		checkSays(t, run(root, name), c.code, c.says...)
		check()
	}
}

// checkRefusals has no copy to fall back on.
func checkRefusals(t *testing.T, server moto.Server, imds string) {
	t.Helper()
	server.PutSecret(t, "corp/wrong", secret.Core)
	_, noRole := serve(t, twoBlocks())
	for name, c := range map[string]struct {
		imds, endpoint, ref string
		code                int
		says                []string
	}{
		"nobody there":     {imds, "http://127.0.0.1:1", "secretsmanager:x", 3, []string{"connection refused", "3 tries", "interface endpoint com.amazonaws.eu-west-1.secretsmanager", "nothing was written"}},
		"nobody for SSM":   {imds, "http://127.0.0.1:1", "ssm:x", 3, []string{"com.amazonaws.eu-west-1.ssm"}},
		"no such secret":   {imds, server.URL, "secretsmanager:none", 3, []string{"ResourceNotFoundException", "there is no none in eu-west-1"}},
		"no role":          {noRole, server.URL, "secretsmanager:corp/wrong", 3, []string{"iam/security-credentials/: 404", "secretsmanager:GetSecretValue"}},
		"no credentials":   {imds, server.URL, "secretsmanager:corp/wrong", 2, []string{"no colon"}},
		"no such field":    {imds, server.URL, "secretsmanager:corp/wrong#x", 2, []string{"not a JSON object"}},
		"itself":           {imds, server.URL, login(), 2, []string{"of no known kind"}},
		"metadata is gone": {"http://127.0.0.1:1", server.URL, "ssm:x", 3, []string{"latest/api/token", "connection refused"}},
	} {
		root := program.Tree(t, "al2023")
		check := untouched(t, root)
		start := time.Now()
		checkSays(t, applyRef(t, root, c.imds, c.endpoint, c.ref), c.code, append(c.says, "--credentials-from: ")...)
		if took := time.Since(start); took > 12*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
		check()
	}
}

func checkSays(t *testing.T, r program.Result, code int, says ...string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("exit %d, want %d\n%s", r.Code, code, r.Stderr)
	}
	for _, want := range says {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("standard error does not say %q:\n%s", want, r.Stderr)
		}
	}
}

// checkPastTheProxy runs in a namespace, where the environment sends
// everything to a proxy, and the services have an address that is not loopback.
func checkPastTheProxy(t *testing.T, server moto.Server) {
	t.Helper()
	ns, p := proxiedNode(t)
	listen(t, ns, "["+metadataV6+"]:81", metadata.NewServer(withRole()))
	ns.AddAddress(t, "10.40.0.9/32")
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	listen(t, ns, "10.40.0.9:80", httputil.NewSingleHostReverseProxy(target))
	server.PutSecret(t, "corp/direct", login())
	root := program.Tree(t, "al2023")
	r := program.RunUnder(t, ns.Exec(), slices.Concat(proxied, aws("http://10.40.0.9")),
		node("apply", root, "--imds-endpoint", "http://["+metadataV6+"]:81", "--http-proxy", httpProxy, "--credentials-from", "secretsmanager:corp/direct")...)
	checkLogin(t, root, r, secret.User, secret.Password)
	if log := p.Requests(); len(log) != 0 {
		t.Errorf("the proxy was asked: %v", log)
	}
}
