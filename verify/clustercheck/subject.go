package clustercheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/plan"
	"github.com/eksproxy/eksproxy/proxyconfig"
	"github.com/eksproxy/eksproxy/verify"
)

// subject is the cluster under test.
type subject struct {
	o     Options
	world *world

	once sync.Once
	down error
	// proxies are the flags that repeat the proxies of the ConfigMap; empty where
	// it has none that could be repeated.
	proxies string
}

func newSubject(o Options) *subject {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &subject{o: o, world: &world{client: o.Client, objects: map[kube.Ref]answer{}, lists: map[string]listAnswer{}}}
}

// settingsRef names the ConfigMap with the six variables.
func settingsRef() kube.Ref {
	return kube.Ref{Kind: kube.ConfigMap(), Namespace: addons.Namespace, Name: addons.ConfigMapName}
}

// unreachable is why the server gave no answer, or none to us; nil where it did.
// It is asked once a run.
func (s *subject) unreachable(ctx context.Context) error {
	s.once.Do(func() {
		live, err := s.world.get(ctx, settingsRef())
		if live != nil {
			s.proxies = proxyFlags(textData(live))
		}
		if err != nil && (!answered(err) || apierrors.IsUnauthorized(errors.Unwrap(err))) {
			s.down = err
		}
	})
	return s.down
}

// proxyFlags are the flags that give the proxies again, without credentials.
func proxyFlags(data map[string]string) string {
	http, err1 := proxyconfig.ParseURL(withoutUserinfo(strings.TrimSpace(data["HTTP_PROXY"])))
	https, err2 := proxyconfig.ParseURL(withoutUserinfo(strings.TrimSpace(data["HTTPS_PROXY"])))
	switch {
	case err1 != nil:
		return ""
	case err2 != nil || http.Equal(https):
		return " --http-proxy " + http.Bare()
	}
	return " --http-proxy " + http.Bare() + " --https-proxy " + https.Bare()
}

// answered says that an error is an answer of the API server.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// server says whether the API server answers. That one request is denied does
// not count: the check that needs it says so.
func (s *subject) server(ctx context.Context) []verify.Finding {
	if err := s.unreachable(ctx); err != nil {
		return one(undecided(s.o.Client.Server, "kubectl get --raw /readyz; look at --kubeconfig, --context and --kube-direct", "%v", err))
	}
	return pass("%s answers", s.o.Client.Server)
}

// cannot says that something was not read, and which right was missing.
func cannot(target string, err error) verify.Finding {
	if apierrors.IsForbidden(errors.Unwrap(err)) {
		return undecided(target, "give this user the ClusterRole view, or the right that the message names", "it may not be read: %v", errors.Unwrap(err))
	}
	return undecided(target, "run eksproxy verify cluster again", "it was not read: %v", err)
}

// values are the data of the ConfigMap; without them, found says why not.
func (s *subject) values(ctx context.Context) (data map[string]string, found []verify.Finding) {
	r := settingsRef()
	live, err := s.world.get(ctx, r)
	switch {
	case err != nil:
		return nil, one(cannot(r.String(), err))
	case live == nil:
		return nil, skip("there is no %s, see %s", r, idConfigMap)
	}
	return textData(live), nil
}

// noProxy is the list of the ConfigMap; without it, found says why not.
func (s *subject) noProxy(ctx context.Context) (list string, found []verify.Finding) {
	data, found := s.values(ctx)
	if found != nil {
		return "", found
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if list = strings.TrimSpace(data[name]); list != "" {
			return list, nil
		}
	}
	return "", skip("the ConfigMap has no NO_PROXY, see %s", idConfigMap)
}

// mask hides every secret that is known, and what looks like one.
func (s *subject) mask(text string) string {
	var secrets []string
	if s.o.Wanted != nil {
		secrets = s.o.Wanted.Settings.Secrets()
	}
	return plan.Mask(verify.Printable(text), secrets...)
}

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

// few are the first texts of a list, and how many more there are.
func few(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
