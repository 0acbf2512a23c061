package nodecheck

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/rootfs"
	"github.com/eksproxy/eksproxy/node"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/verify"
)

// subject is the node under test: what several checks need is read once.
type subject struct {
	o        Options
	metadata func(context.Context) (facts.Node, error)
	wanted   func(context.Context) (node.Desired, error)

	once   sync.Once
	err    error
	record node.Inspection
	// ours are the six variables of proxy.env.
	ours map[string]string

	// A check that exceeded its time still runs beside the next one.
	mu      sync.Mutex
	cache   map[string]fileRead
	secrets map[string]bool
}

type fileRead struct {
	file rootfs.File
	err  error
}

func newSubject(o Options) *subject {
	s := &subject{o: o, cache: map[string]fileRead{}, secrets: map[string]bool{}}
	if o.Now == nil {
		s.o.Now = time.Now
	}
	if o.Metadata != nil {
		s.metadata = onceOf(o.Metadata)
	}
	if o.Wanted != nil {
		s.wanted = onceOf(o.Wanted)
	}
	return s
}

// onceOf asks once, within the time of the first who asks.
func onceOf[T any](ask func(context.Context) (T, error)) func(context.Context) (T, error) {
	var once sync.Once
	var answer T
	var err error
	return func(ctx context.Context) (T, error) {
		once.Do(func() { answer, err = ask(ctx) })
		return answer, err
	}
}

// load reads the record and proxy.env.
func (s *subject) load() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.record, s.err = node.Inspect(s.o.Root)
		s.mu.Unlock()
		if s.err != nil {
			return
		}
		f, _ := s.read(node.ProxyEnvPath) // that it cannot be read is NODE001's finding
		s.ours = envOf(parseEnv(f.Data))
		s.learnFiles()
	})
	return s.err
}

// read reads a file of the tree; one that does not exist is no error.
func (s *subject) read(p string) (rootfs.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.cache[p]
	if !ok {
		r.file, r.err = s.o.Root.Read(p)
		s.cache[p] = r
	}
	return r.file, r.err
}

// dir lists a directory as whole paths; none where it cannot be read.
func (s *subject) dir(p string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.o.Root.ReadDir(p)
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = path.Join(p, name)
	}
	return names
}

func (s *subject) exists(p string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Root.Exists(p)
}

// noProxy are the entries of our NO_PROXY; none where proxy.env sets none.
func (s *subject) noProxy() []string { return entries(s.ours["NO_PROXY"]) }

const noList = node.ProxyEnvPath + " sets no NO_PROXY, see " + idPairs

// entries are the elements of a NO_PROXY value, without blanks around them.
func entries(value string) []string {
	var list []string
	for e := range strings.SplitSeq(value, ",") {
		if e = strings.TrimSpace(e); e != "" {
			list = append(list, e)
		}
	}
	return list
}

// mask hides every secret that was come across.
func (s *subject) mask(text string) string {
	s.mu.Lock()
	// The longest first: a secret can be a part of another.
	secrets := slices.SortedFunc(maps.Keys(s.secrets), func(a, b string) int { return len(b) - len(a) })
	s.mu.Unlock()
	return plan.Mask(verify.Printable(text), secrets...)
}

// unreadable says why a file was not looked at, in few words.
func unreadable(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "it cannot be read: permission denied"
	}
	return "it cannot be read: " + err.Error()
}
