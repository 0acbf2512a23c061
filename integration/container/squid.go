package container

import (
	"crypto/md5"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/eksproxy/eksproxy/integration/program"
)

// squidConfig is the configuration of squid.
//
//go:embed testdata/squid.conf
var squidConfig string

// squidLimit is how long squid may take to listen.
const squidLimit = 20 * time.Second

// credentialsTTL is how long squid takes a password for good that it has
// looked up. With 0 it would look for ever.
const credentialsTTL = time.Second

// SquidOptions are what a proxy is made with.
type SquidOptions struct {
	// User and Password are needed by who asks the proxy, where User is not
	// empty.
	User, Password string
	// Open are hosts that need no user.
	Open []string
	// Trust are certificates, in PEM, that squid trusts where it inspects.
	Trust string
	// Hosts are lines of /etc/hosts for squid alone; nil means RegistryName.
	Hosts []string
}

// Squid is a proxy on two ports: one that passes on, one that inspects TLS.
type Squid struct {
	// CA makes the certificates of the inspecting port.
	CA *Authority

	work     work
	user     string
	password string
	changed  time.Time // of the password
	process  *process
}

// NewSquid starts a proxy in the network, gone when the test ends.
func NewSquid(t *testing.T, n *Network, o SquidOptions) *Squid {
	t.Helper()
	needHost(t)
	begin := time.Now()
	s := &Squid{CA: NewAuthority(t, "inspecting proxy"), work: newWork(t), user: o.User, changed: begin}
	hosts := o.Hosts
	if hosts == nil {
		hosts = []string{RegistryIP + " " + RegistryName}
	}
	var config strings.Builder
	fields := struct {
		IP, Dir, User string
		Open          []string
	}{ProxyIP, string(s.work), o.User, o.Open}
	if err := template.Must(template.New("squid.conf").Parse(squidConfig)).Execute(&config, fields); err != nil {
		t.Fatal(err)
	}
	s.write(t, "squid.conf", []byte(config.String()))
	s.write(t, "hosts", []byte(strings.Join(hosts, "\n")+"\n"))
	s.write(t, "bump.pem", s.CA.withKey(t))
	s.write(t, "outgoing.pem", []byte(o.Trust))
	s.write(t, "access.log", nil)
	s.SetPassword(t, o.Password)
	s.own(t)
	// Its shared memory has fixed names: two that start at once would meet there.
	s.process = start(t, s.work, "mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit\n\"$@\"\nexit $?\n",
		append(n.Proxy.Exec(), "squid", "-N", "-f", s.work.path("squid.conf"))...)
	s.await(t, n)
	tell(t, begin, "start of squid")
	return s
}

// SetPassword makes squid want another password from now on.
func (s *Squid) SetPassword(t *testing.T, password string) {
	t.Helper()
	s.password = password
	// One of the forms that squid's helper reads: nothing needs to be kept
	// from anyone here.
	s.write(t, "passwd", fmt.Appendf(nil, "%s:%x\n", s.user, md5.Sum([]byte(password))))
	// The helper reads the file again where its time is another in seconds.
	s.changed = s.changed.Add(time.Second)
	if err := os.Chtimes(s.work.path("passwd"), s.changed, s.changed); err != nil {
		t.Fatal(err)
	}
	if s.process != nil {
		time.Sleep(credentialsTTL + 100*time.Millisecond)
	}
}

// URL is the proxy as the node sees it, with user and password.
func (s *Squid) URL() string { return s.url("3128", s.user, s.password) }

// InspectingURL is URL for the port that inspects TLS.
func (s *Squid) InspectingURL() string { return s.url("3129", s.user, s.password) }

// url is a proxy URL. Of user and password all but letters and digits is
// percent-encoded.
func (s *Squid) url(port, user, password string) string {
	if user != "" {
		user = encodeAll(user) + ":" + encodeAll(password) + "@"
	}
	return "http://" + user + net.JoinHostPort(ProxyIP, port)
}

// encodeAll percent-encodes all but letters and digits.
func encodeAll(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

// Env is an environment file with six variables.
func Env(proxy, noProxy string) string {
	var out strings.Builder
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		fmt.Fprintf(&out, "%s=%s\n%s=%s\n", name, proxy, strings.ToLower(name), proxy)
	}
	fmt.Fprintf(&out, "NO_PROXY=%s\nno_proxy=%s\n", noProxy, noProxy)
	return out.String()
}

// write writes a file of squid's.
func (s *Squid) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(s.work.path(name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// own makes the database of certificates, and gives all to squid's user.
func (s *Squid) own(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/usr/lib/squid/security_file_certgen", "-c", "-s", s.work.path("ssl_db"), "-M", "4MB")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making squid's database of certificates: %v\n%s", err, out)
	}
	account, err := user.Lookup("proxy")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	err = filepath.WalkDir(string(s.work), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, uid, gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until squid listens.
func (s *Squid) await(t *testing.T, n *Network) {
	t.Helper()
	deadline := time.Now().Add(squidLimit)
	for {
		r := program.Exec(t, nil, append(n.Proxy.Exec(), "ss", "-Hltn", "sport = 3128 or sport = 3129")...)
		if strings.Count(r.Stdout, "LISTEN") == 2 {
			return
		}
		if s.process.ended() || time.Now().After(deadline) {
			logged, _ := os.ReadFile(s.work.path("cache.log"))
			t.Fatalf("starting squid: it does not listen\n%s\n%s", s.process.output(), logged)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
