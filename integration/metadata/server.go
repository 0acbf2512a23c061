package metadata

import (
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The headers of IMDSv2.
const (
	tokenHeader = "X-Aws-Ec2-Metadata-Token"
	ttlHeader   = "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"
)

// tokenPath is where tokens are made.
const tokenPath = "/latest/api/token"

// version matches the versions that are served. Only /latest/ needs a token:
// cloud-init asks for dated versions, without one where it does not know EC2.
var version = regexp.MustCompile(`^(latest|\d{4}-\d{2}-\d{2})$`)

// Request is one entry of the server's log. Status is zero where the server
// broke off without an answer.
type Request struct {
	Method, Path string
	Status       int
	Token        bool // it had a valid token
}

// Server answers as the metadata service of an instance. All its methods may
// be called while it serves.
type Server struct {
	mu       sync.Mutex
	instance Instance
	tokens   map[string]time.Time // and when they expire
	faults   map[string]*Fault    // by path
	log      []Request
}

// NewServer returns a server for this instance.
func NewServer(i Instance) *Server {
	return &Server{instance: i, tokens: map[string]time.Time{}, faults: map[string]*Fault{}}
}

// Set replaces the instance.
func (s *Server) Set(i Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instance = i
}

// Break makes the path, as in "/latest/meta-data/mac", fail in this way. A
// slash at the end makes no difference.
func (s *Server) Break(path string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[strings.TrimSuffix(path, "/")] = &f
}

// ExpireTokens makes all tokens invalid.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Requests is what was asked so far, in the order of the answers.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ServeHTTP answers a request, and records it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := &recorder{ResponseWriter: w}
	valid := s.valid(r.Header.Get(tokenHeader))
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, Request{r.Method, r.URL.Path, rec.status, valid})
	}()
	v, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if fault := s.fault(r.URL.Path); fault != nil {
		fault(rec, r)
		return
	}
	switch {
	case r.URL.Path == tokenPath:
		s.serveToken(rec, r)
	case v == "latest" && !valid:
		refuse(rec, http.StatusUnauthorized)
	case r.Method != http.MethodGet:
		refuse(rec, http.StatusMethodNotAllowed)
	case !version.MatchString(v):
		refuse(rec, http.StatusNotFound)
	default:
		s.serveFile(rec, rest)
	}
}

// serveToken makes a token. A request that a proxy passed on gets none.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	ttl, err := strconv.Atoi(r.Header.Get(ttlHeader))
	switch {
	case r.Method != http.MethodPut:
		refuse(w, http.StatusMethodNotAllowed)
	case r.Header.Get("X-Forwarded-For") != "":
		refuse(w, http.StatusForbidden)
	case err != nil || ttl < 1 || ttl > 21600:
		refuse(w, http.StatusBadRequest)
	default:
		token := rand.Text()
		s.mu.Lock()
		s.tokens[token] = time.Now().Add(time.Duration(ttl) * time.Second)
		s.mu.Unlock()
		w.Header().Set(ttlHeader, strconv.Itoa(ttl))
		io.WriteString(w, token)
	}
}

// serveFile answers with a document, or the listing of a directory.
func (s *Server) serveFile(w http.ResponseWriter, path string) {
	s.mu.Lock()
	files := s.instance.files()
	s.mu.Unlock()
	text, found := files[path]
	if !found {
		text = list(files, path)
	}
	if text == "" && !found {
		refuse(w, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, text)
}

// list is the listing of a directory, empty where there is none. What is a
// directory itself ends in a slash.
func list(files map[string]string, dir string) string {
	if dir != "" && !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	names := map[string]bool{}
	for path := range files {
		if rest, found := strings.CutPrefix(path, dir); found {
			name, _, isDir := strings.Cut(rest, "/")
			if isDir {
				name += "/"
			}
			names[name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), "\n")
}

// valid says whether the token was given out here and has not expired.
func (s *Server) valid(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.tokens[token])
}

// fault is what to do instead of answering this path, if anything.
func (s *Server) fault(path string) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.faults[strings.TrimSuffix(path, "/")]
	if f == nil || f.spent() {
		return nil
	}
	return f.serve
}

// refuse answers with an HTML page, as EC2 does, so that who takes the body
// for the value without a look at the status is found out.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	io.WriteString(w, page(strconv.Itoa(status)+" - "+http.StatusText(status)))
}

// page is an HTML page with this title.
func page(title string) string {
	return "<html><head><title>" + title + "</title></head>\n<body><h1>" + title + "</h1></body></html>\n"
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the status and sends it.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write sends, with status 200 where none was sent before.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController through.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
