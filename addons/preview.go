package addons

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/eksproxy/eksproxy/internal/podenv"
)

// Ownership says who owns the fields of one workload that EKS applies, and what
// an update of its add-on would do to them. It is read from the managed fields
// alone.
//
// What EKS would write cannot be asked for. A field counts as one that EKS writes
// where EKS owns it, or where EKS owns the item of a list that it is the value of:
// who changes the value of an item takes the value from EKS, and not the item.
type Ownership struct {
	// Component is its name in the table; empty where the user named the workload.
	Component string `json:"component,omitempty"`
	// Object is "DaemonSet kube-system/aws-node".
	Object string `json:"object"`
	// Fields are the variables, and what else EKS and another manager both claim.
	Fields []FieldOwnership `json:"fields"`
	// Conflict is how the API server words what EKS meets, ConfigurationConflict
	// how EKS reports it with NONE; both are empty without a conflict.
	Conflict              string `json:"conflict,omitempty"`
	ConfigurationConflict string `json:"configurationConflict,omitempty"`
}

// FieldOwnership is one field.
type FieldOwnership struct {
	// Path is as the API server writes it, as in
	// .spec.template.spec.containers[name="aws-node"].env[name="NO_PROXY"].
	Path string `json:"path"`
	// Owners are the managers.
	Owners []string `json:"owners"`
	// None, Preserve and Overwrite are what an update with that value of
	// resolveConflicts does to it.
	None      Effect `json:"none"`
	Preserve  Effect `json:"preserve"`
	Overwrite Effect `json:"overwrite"`
}

// Effect is what an update by EKS does to a field.
type Effect string

// The effects.
const (
	// EffectKept says that the field stays as it is: EKS does not write it, or
	// leaves it to its owner.
	EffectKept Effect = "kept"
	// EffectEKS says that EKS writes its own value.
	EffectEKS Effect = "eks"
	// EffectConflict says that the whole update fails because of the field.
	EffectConflict Effect = "conflict"
)

// Foreign says whether anyone but EKS owns the field.
func (f FieldOwnership) Foreign() bool {
	return slices.ContainsFunc(f.Owners, func(o string) bool { return o != eksManager })
}

// claim is a manager of an object and what it owns. The identifier is the one by
// which the API server sorts and names managers in a conflict.
type claim struct {
	entry      metav1.ManagedFieldsEntry
	identifier string
	fields     *fieldpath.Set
}

// claims are all managers of the object itself, but not of its status.
func claims(object metav1.Object) (eks *fieldpath.Set, others []claim, err error) {
	eks = fieldpath.NewSet()
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, nil, fmt.Errorf("reading who owns the fields of %s: %w", object.GetName(), err)
		}
		if entry.Manager == eksManager && entry.Operation == metav1.ManagedFieldsOperationApply {
			eks = eks.Union(set)
			continue
		}
		others = append(others, newClaim(entry, set))
	}
	return eks, others, nil
}

// Preview says who owns the fields of a workload, and what an update of its EKS
// add-on would do to them.
func Preview(live *unstructured.Unstructured) (Ownership, error) {
	r := refOf(live)
	o := Ownership{Component: targetOf(r).Component, Object: r.String(), Fields: []FieldOwnership{}}
	eks, others, err := claims(live)
	if err != nil {
		return o, err
	}
	template, err := podenv.Template(live)
	if err != nil {
		return o, err
	}
	conflicts := make([]*fieldpath.Set, len(others))
	for i, c := range others {
		conflicts[i] = c.against(eks)
	}
	seen := map[string]bool{}
	for _, c := range podenv.Containers(&template) {
		for _, e := range c.Env {
			path := podenv.EnvPath(live.GetKind(), c, e.Name)
			if !seen[path.String()] {
				seen[path.String()] = true
				o.Fields = append(o.Fields, effects(path, eks, others, conflicts))
			}
		}
	}
	beside := fieldpath.NewSet()
	for i, c := range others {
		beside = beside.Union(conflicts[i]).Union(c.fields.Leaves().Intersection(eks.Leaves()))
	}
	beside.Iterate(func(path fieldpath.Path) {
		if !isUnder(path, seen) {
			o.Fields = append(o.Fields, effects(path.Copy(), eks, others, conflicts))
		}
	})
	o.Conflict, o.ConfigurationConflict = conflictTexts(live, others, conflicts)
	return o, nil
}

// isUnder says whether a path is one of the variables, or below one.
func isUnder(path fieldpath.Path, variables map[string]bool) bool {
	for i := range path {
		if variables[path[:i+1].String()] {
			return true
		}
	}
	return false
}

// against are the fields that a manager has taken from EKS: it owns the value of
// an item that is EKS's, and EKS does not own that value.
func (c claim) against(eks *fieldpath.Set) *fieldpath.Set {
	taken := fieldpath.NewSet()
	c.fields.Leaves().Iterate(func(path fieldpath.Path) {
		for i := range path {
			item, name := path[:i], path[i].FieldName
			if name != nil && writes(item, *name) && eks.Has(item) && !owns(eks, path[:i+1]) {
				taken.Insert(path.Copy())
			}
		}
	})
	return taken
}

// writes says whether who writes an item must write this field of it: the value
// of a variable, the image of a container. Another field of an item may be one
// that EKS never wrote.
func writes(item fieldpath.Path, field string) bool {
	if len(item) < 2 || item[len(item)-1].Key == nil || item[len(item)-2].FieldName == nil {
		return false
	}
	switch *item[len(item)-2].FieldName {
	case "env":
		return field == "value" || field == "valueFrom"
	case "containers", "initContainers":
		return field == "image"
	}
	return false
}

// effects are what becomes of a field.
func effects(path fieldpath.Path, eks *fieldpath.Set, others []claim, conflicts []*fieldpath.Set) FieldOwnership {
	f := FieldOwnership{Path: path.String(), Owners: []string{}, None: EffectKept, Preserve: EffectKept, Overwrite: EffectKept}
	inEKS := owns(eks, path)
	if inEKS {
		f.Owners = append(f.Owners, eksManager)
		f.None, f.Preserve, f.Overwrite = EffectEKS, EffectEKS, EffectEKS
	}
	for i, c := range others {
		if owns(c.fields, path) && !slices.Contains(f.Owners, c.entry.Manager) {
			f.Owners = append(f.Owners, c.entry.Manager)
		}
		if owns(conflicts[i], path) {
			f.None, f.Preserve, f.Overwrite = EffectConflict, EffectKept, EffectEKS
		}
	}
	return f
}

// owns says whether a set has a path, or something below it.
func owns(set *fieldpath.Set, path fieldpath.Path) bool {
	if set.Has(path) {
		return true
	}
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return !set.Empty()
}

// preview adds what is to be said of a target that EKS applies.
func (p *planner) preview(f found) error {
	if f.Component == "" || !slices.Contains(f.owners.Managers(), eksManager) {
		return nil
	}
	o, err := Preview(f.live)
	if err == nil {
		p.out.Ownership = append(p.out.Ownership, o)
	}
	return err
}

// Summary is the fields that another manager has a part in; those of EKS alone
// are counted only.
func (o Ownership) Summary() (foreign []FieldOwnership, ofEKS int) {
	for _, f := range o.Fields {
		if f.Foreign() {
			foreign = append(foreign, f)
		} else {
			ofEKS++
		}
	}
	return foreign, ofEKS
}

// shortPath is a path without what all paths of pods have in common.
func (f FieldOwnership) shortPath() string {
	return strings.TrimPrefix(f.Path, ".spec.template.spec.")
}
