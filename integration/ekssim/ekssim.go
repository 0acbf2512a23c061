package ekssim

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/eksproxy/eksproxy/integration/awsfake"
	"github.com/eksproxy/eksproxy/integration/controlplane"
)

//go:embed testdata/*.json
var schemas embed.FS

// Cluster and Region are what --cluster and --region take.
const (
	Cluster = "demo"
	Region  = "eu-west-1"
)

// polls is how often an update is asked for before it has ended.
const polls = 2

// End is how an update ends.
type End struct {
	// Status is Failed or Cancelled; empty is Successful.
	Status string
	// Applied says that the objects were changed before that.
	Applied bool
}

// Call is one UpdateAddon, as it came.
type Call struct {
	Addon string
	Body  map[string]any
}

// Sim is a running EKS.
type Sim struct {
	// URL is its address, for AWS_ENDPOINT_URL.
	URL   string
	api   *api
	other *awsfake.Server

	mu      sync.Mutex
	addons  map[string]*Addon
	objects map[string][]map[string]any
	ends    []End
	updates map[string]*update
	calls   []Call
	denied  map[string]bool
	actions []string
}

// update is one update of an add-on.
type update struct {
	addon, status, code, message string
	asked                        int
}

// manifests are the files of controlplane that an add-on applies.
func manifests(addon string) string {
	return map[string]string{
		"vpc-cni": "aws-node", "kube-proxy": "kube-proxy", "aws-ebs-csi-driver": "ebs-csi", "eks-pod-identity-agent": "pod-identity",
	}[addon]
}

// Start applies the add-ons with their values, and serves until the test ends.
func Start(t *testing.T, cp *controlplane.ControlPlane, addons ...Addon) *Sim {
	t.Helper()
	cloud := awsfake.New(awsfake.Site{Name: Cluster, Partition: "aws", Region: Region, Endpoint: cp.URL()})
	cloud.Addons, cloud.Fargate = map[string]map[string]any{}, map[string]map[string]any{}
	s := &Sim{api: newAPI(t, cp), addons: map[string]*Addon{}, objects: map[string][]map[string]any{}, updates: map[string]*update{}, denied: map[string]bool{}}
	for _, a := range addons {
		cloud.Addons[a.Name] = map[string]any{}
		s.addons[a.Name] = &a
		s.objects[a.Name] = objects(t, cp, manifests(a.Name))
		if err := s.apply(a.Name, a.Values, "OVERWRITE"); err != nil {
			t.Fatal(err)
		}
	}
	s.other = awsfake.Start(t, cloud)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Next makes the next updates end so, one after the other.
func (s *Sim) Next(ends ...End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, ends...)
}

// Deny refuses a call, by its IAM action, from now on.
func (s *Sim) Deny(action string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[action] = true
}

// Addon is an add-on as it is now.
func (s *Sim) Addon(name string) Addon {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.addons[name]
}

// SetValues changes the values as somebody else does, and applies them.
func (s *Sim) SetValues(t *testing.T, name, values string) {
	t.Helper()
	if err := s.Update(name, values, "PRESERVE"); err != nil {
		t.Fatal(err)
	}
}

// Update does what an UpdateAddon with this value of resolveConflicts does; its
// error is the message of the update.
func (s *Sim) Update(name, values, mode string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.apply(name, values, mode); err != nil {
		return err
	}
	s.addons[name].Values = values
	return nil
}

// Updates are the calls of UpdateAddon so far.
func (s *Sim) Updates() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Actions are the IAM actions that were called, each once and sorted; those that
// awsfake answers are among them.
func (s *Sim) Actions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.actions, s.other.Calls()))))
}

// ServeHTTP answers what add-ons need, and hands the rest to awsfake.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	part := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.URL.Path == "/addons/configuration-schemas":
		s.configuration(w, r)
	case len(part) == 4 && part[2] == "addons" && r.Method == http.MethodGet:
		s.describe(w, part[3])
	case len(part) == 5 && part[2] == "addons" && part[4] == "update":
		s.update(w, r, part[3])
	case len(part) == 4 && part[2] == "updates":
		s.describeUpdate(w, part[3])
	default:
		s.other.ServeHTTP(w, r)
	}
}

// refused answers a call that is denied, and says so.
func (s *Sim) refused(w http.ResponseWriter, action string) bool {
	s.actions = append(s.actions, action)
	if s.denied[action] {
		fail(w, http.StatusForbidden, "AccessDeniedException", "User: arn:aws:sts::123456789012:assumed-role/viewer/ci is not authorized to perform: "+action)
	}
	return s.denied[action]
}

func (s *Sim) configuration(w http.ResponseWriter, r *http.Request) {
	if s.refused(w, "eks:DescribeAddonConfiguration") {
		return
	}
	a, ok := s.addons[r.URL.Query().Get("addonName")]
	if !ok || a.Version != r.URL.Query().Get("addonVersion") {
		fail(w, http.StatusNotFound, "ResourceNotFoundException", "No such add-on version")
		return
	}
	schema, err := schemas.ReadFile("testdata/" + a.Schema)
	if err != nil {
		fail(w, http.StatusInternalServerError, "ServerException", err.Error())
		return
	}
	answer(w, map[string]any{"addonName": a.Name, "addonVersion": a.Version, "configurationSchema": string(schema)})
}

func (s *Sim) describe(w http.ResponseWriter, name string) {
	if s.refused(w, "eks:DescribeAddon") {
		return
	}
	a, ok := s.addons[name]
	if !ok {
		fail(w, http.StatusNotFound, "ResourceNotFoundException", "No addon: "+name+" found in cluster: "+Cluster)
		return
	}
	doc := map[string]any{
		"addonName": a.Name, "clusterName": Cluster, "addonVersion": a.Version, "status": "ACTIVE", "tags": a.Tags,
		"addonArn": "arn:aws:eks:eu-west-1:123456789012:addon/demo/" + a.Name + "/id", "createdAt": 1790000000.5, "modifiedAt": 1790000000.5,
		"health": map[string]any{"issues": []any{}},
	}
	if a.Values != "" {
		doc["configurationValues"] = a.Values
	}
	if a.Role != "" {
		doc["serviceAccountRoleArn"] = a.Role
	}
	answer(w, map[string]any{"addon": doc})
}

// update begins an update, and applies it unless that is to fail before.
func (s *Sim) update(w http.ResponseWriter, r *http.Request, name string) {
	var body map[string]any
	a, ok := s.addons[name]
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !ok || s.refused(w, "eks:UpdateAddon") {
		return
	}
	delete(body, "clientRequestToken")
	s.calls = append(s.calls, Call{name, body})
	u := &update{addon: name, status: "Successful"}
	end := End{Applied: true}
	if len(s.ends) > 0 {
		end, s.ends = s.ends[0], s.ends[1:]
		end.Applied = end.Applied || end.Status == ""
	}
	values, given := body["configurationValues"].(string)
	if !given {
		values = a.Values
	}
	a.Values = values
	a.Role, _ = body["serviceAccountRoleArn"].(string) // not given, it is that of the node
	mode, _ := body["resolveConflicts"].(string)
	if end.Applied {
		if err := s.apply(name, values, mode); err != nil {
			u.status, u.code, u.message = "Failed", "ConfigurationConflict", err.Error()
		}
	}
	if end.Status != "" {
		u.status, u.code, u.message = end.Status, "Unknown", "the test ends it so"
	}
	id := fmt.Sprintf("00000000-0000-0000-0000-%012d", len(s.calls))
	s.updates[id] = u
	answer(w, map[string]any{"update": map[string]any{"id": id, "status": "InProgress", "type": "AddonUpdate", "createdAt": 1790000000.5, "params": []any{}, "errors": []any{}}})
}

func (s *Sim) describeUpdate(w http.ResponseWriter, id string) {
	u, ok := s.updates[id]
	if !ok || s.refused(w, "eks:DescribeUpdate") {
		return
	}
	u.asked++
	doc := map[string]any{"id": id, "status": "InProgress", "type": "AddonUpdate", "createdAt": 1790000000.5, "errors": []any{}}
	if u.asked > polls {
		doc["status"] = u.status
		if u.message != "" {
			doc["errors"] = []any{map[string]any{"errorCode": u.code, "errorMessage": u.message, "resourceIds": []string{u.addon}}}
		}
	}
	answer(w, map[string]any{"update": doc})
}
