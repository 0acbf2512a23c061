package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/proxyconfig"
)

func TestSetBlock(t *testing.T) {
	const body = "HTTP_PROXY=new\n"
	const ours = "# BEGIN eksproxy\nHTTP_PROXY=new\n# END eksproxy\n"
	for old, want := range map[string]string{
		"":                                    ours,
		"A=1":                                 "A=1\n" + ours,
		"A=1\n":                               "A=1\n" + ours,
		"A=1\n" + ours:                        "A=1\n" + ours,
		ours + "A=1\n":                        ours + "A=1\n",
		"A=1\n" + block1 + "B=2\n" + block1:   "A=1\n" + ours + "B=2\n",
		"# BEGIN eksproxy\nno_proxy=x\nA=1\n": ours + "A=1\n",
		"# BEGIN eksproxy\n" + block1:         ours,
		"# END eksproxy\nA=1\n":               "# END eksproxy\nA=1\n" + ours,
		"# BEGIN eksproxy\r\nHTTP_PROXY=x\r\n# END eksproxy\r\nA\r\n": ours + "A\r\n",
	} {
		got, _ := setBlock([]byte(old), []byte(body))
		if string(got) != want {
			t.Errorf("%q becomes %q, want %q", old, got, want)
		}
		if again, moved := setBlock(got, []byte(body)); string(again) != string(got) || len(moved) > 0 {
			t.Errorf("%q: a second run gives %q", old, again)
		}
	}
}

func TestSets(t *testing.T) {
	for line, want := range map[string]string{
		"HTTP_PROXY=x": "HTTP_PROXY", "\thttps_proxy=": "https_proxy",
		"#HTTP_PROXY=x": "", "HTTP_PROXY": "", "HTTP_PROXYX=1": "", "Http_Proxy=1": "", "ALL_PROXY=x": "", "": "",
		"  export  no_proxy = x": "no_proxy",
	} {
		if got, _ := sets(line); got != want {
			t.Errorf("%q sets %q, want %q", line, got, want)
		}
	}
}

// BL-029: the option stands once, in [main], and everything else as it was.
func TestSetKeys(t *testing.T) {
	keys := []key{{"proxy", "http://p:1", true}, {"proxy_username", "", false}}
	for old, want := range map[string]string{
		"":       "[main]\nproxy=http://p:1\n",
		"[main]": "[main]\nproxy=http://p:1\n",
		"[main]\ngpgcheck=1\nproxy=http://old:1\n[extras]\nenabled=0": "[main]\ngpgcheck=1\nproxy=http://p:1\n[extras]\nenabled=0",
		"[main]\nproxy=a\nb=1\nproxy=c\n":                             "[main]\nproxy=http://p:1\nb=1\n",
		"[main]\nproxy = a\n  continued\nb=1\n":                       "[main]\nproxy=http://p:1\nb=1\n",
		"[main]\na=1\n\n# about extras\n[extras]\nproxy=_none_\n":     "[main]\na=1\nproxy=http://p:1\n\n# about extras\n[extras]\nproxy=_none_\n",
		"[extras]\nproxy=_none_":                                      "[extras]\nproxy=_none_\n[main]\nproxy=http://p:1\n",
		"[main]\nproxy_username=u\n#proxy=x\nproxyx=1\n":              "[main]\n#proxy=x\nproxyx=1\nproxy=http://p:1\n",
		"[main]\n[main]\nproxy=a\n":                                   "[main]\n[main]\nproxy=http://p:1\n",
		"proxy=outside\n[main]\n":                                     "proxy=outside\n[main]\nproxy=http://p:1\n",
	} {
		got := setKeys([]byte(old), "main", keys)
		if string(got) != want {
			t.Errorf("%q becomes %q, want %q", old, got, want)
		}
		if again := setKeys(got, "main", keys); string(again) != string(got) {
			t.Errorf("%q: a second run gives %q", old, again)
		}
	}
}

// Whatever others write between applies stays, and nothing of ours does: a
// random walk of both, then revert.
func TestRandomWalk(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for n := range 150 {
		walk(t, rand.New(rand.NewPCG(seed, uint64(n))))
	}
}

func walk(t *testing.T, r *rand.Rand) {
	t.Helper()
	files := map[string]string{etcEnv: "A=1\nPATH=x\n", "/etc/dnf/dnf.conf": "[main]\ngpgcheck=1\nproxy=old\n[extras]\nx=1\n"}
	root := plant(t, baseTree(AL2023).with(tree{etcEnv: file(files[etcEnv]), "/etc/dnf/dnf.conf": file(files["/etc/dnf/dnf.conf"])}))
	want := map[string][]string{etcEnv: lines([]byte(files[etcEnv])), "/etc/dnf/dnf.conf": lines([]byte(files["/etc/dnf/dnf.conf"]))}
	var story []string
	for i := range 2 + r.IntN(6) {
		if r.IntN(2) == 0 {
			s := settings(r.IntN(2) == 0)
			s.NoProxy = list(fmt.Sprintf("host%d", r.IntN(3)))
			off := map[string]bool{proxyconfig.TargetEtcEnvironment: r.IntN(4) == 0, proxyconfig.TargetPackageManager: r.IntN(4) == 0}
			applyTo(t, root, s, proxyconfig.Node{Off: off})
			story = append(story, fmt.Sprintf("apply %v", off))
			continue
		}
		for path := range files {
			line := fmt.Sprintf("theirs%d=%d\n", i, r.IntN(100))
			insert(t, root, r, path, line)
			want[path] = append(want[path], line)
			story = append(story, path+": "+line)
		}
	}
	revert(t, root)
	for path, lines := range want {
		got := strings.SplitAfter(read(t, root, path), "\n")
		got = got[:len(got)-1]
		slices.Sort(got)
		slices.Sort(lines)
		if diff := cmp.Diff(lines, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\nafter %q", path, diff, story)
		}
	}
}

// insert puts a line of others at a random place of the file, but not into our
// block, which belongs to us.
func insert(t *testing.T, root *rootfs.Root, r *rand.Rand, path, line string) {
	t.Helper()
	ls := lines([]byte(read(t, root, path)))
	at := r.IntN(len(ls) + 1)
	begin, end := slices.Index(ls, blockBegin+"\n"), slices.Index(ls, blockEnd+"\n")
	if at > begin && at <= end {
		at = end + 1
	}
	write(t, root, path, strings.Join(slices.Insert(ls, at, line), ""))
}

func FuzzBlock(f *testing.F) {
	for _, files := range trees() {
		if e, ok := files[etcEnv]; ok {
			f.Add([]byte(e.text))
		}
	}
	f.Fuzz(func(t *testing.T, old []byte) {
		got, moved := setBlock(old, []byte("HTTP_PROXY=new\n"))
		b := cutBlock(lines(got))
		if !b.found || slices.ContainsFunc(b.after, func(l string) bool { _, ok := sets(l); return ok }) {
			t.Errorf("%q becomes %q", old, got)
		}
		if again, more := setBlock(got, []byte("HTTP_PROXY=new\n")); string(again) != string(got) || len(more) > 0 {
			t.Errorf("%q becomes %q, then %q", old, got, again)
		}
		for _, m := range moved {
			if !strings.Contains(string(old), m) {
				t.Errorf("%q is moved from %q", m, old)
			}
		}
	})
}

func FuzzKeys(f *testing.F) {
	for _, files := range trees() {
		if e, ok := files["/etc/dnf/dnf.conf"]; ok {
			f.Add([]byte(e.text))
		}
	}
	keys := []key{{"proxy", "http://p:1", true}, {"proxy_password", "", false}}
	f.Fuzz(func(t *testing.T, old []byte) {
		got := setKeys(old, "main", keys)
		if again := setKeys(got, "main", keys); string(again) != string(got) {
			t.Errorf("%q becomes %q, then %q", old, got, again)
		}
		set := 0
		for _, s := range sections(lines(got), "main") {
			for _, l := range lines(got)[s.start:s.end] {
				if optionName(l) == "proxy" {
					set++
				}
			}
		}
		if set != 1 {
			t.Errorf("%q has the option %d times: %q", old, set, got)
		}
	})
}
