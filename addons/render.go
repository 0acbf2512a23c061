package addons

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/eksproxy/eksproxy/facts"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/internal/podenv"
	"github.com/eksproxy/eksproxy/templates"
)

// FormatLine begins every rendered file: by it a later run knows that it may
// replace the file. The number is that of the form. It is no program's version,
// which would change every file with every release.
const FormatLine = "# eksproxy format 1"

// Format says what reads the rendered files.
type Format string

// The formats.
const (
	// Manifests are applied with kubectl as field manager eksproxy.
	Manifests Format = "manifests"
	// Kustomize is a component of kustomize.
	Kustomize Format = "kustomize"
	// Helm are values of the components' charts.
	Helm Format = "helm"
	// Terraform are configuration values of EKS add-ons, as locals.
	Terraform Format = "terraform"
	// Eksctl is a list of EKS add-ons with their configuration values.
	Eksctl Format = "eksctl"
)

// Formats are all formats.
func Formats() []Format { return []Format{Manifests, Kustomize, Helm, Terraform, Eksctl} }

// RenderOptions are what is known beside what must be so. Nobody is asked.
type RenderOptions struct {
	// Cluster may list the DaemonSets of kube-system with their containers.
	Cluster facts.Cluster
	// Workloads are others whose containers the user names; they win.
	Workloads []facts.Workload
	// Placeholders stand for facts that are missing, as HoldPlaces gave them.
	Placeholders []Placeholder
	// Addons are versions of EKS add-ons with their schemas: Terraform and Eksctl
	// render those alone, and Helm says where one refuses a chart's values.
	Addons []AddonVersion
}

// File is one rendered file.
type File struct {
	// Name has no folder.
	Name string
	Data []byte
}

// Rendered are the files for one reader, in the order in which they are applied.
type Rendered struct {
	Files []File
	// Notes are what the files cannot say.
	Notes []string
}

// Render writes what must be so as files for GitOps: the same objects and fields
// as a patch would apply. The same input gives the same bytes. Its errors are
// faults of the options.
func Render(d Desired, format Format, o RenderOptions) (Rendered, error) {
	d.Settings.NoProxy = fillPlaces(d.Settings.NoProxy, o.Placeholders)
	r := &renderer{want: d, options: o}
	r.out.Notes = slices.Clone(d.Notes)
	if o.Cluster.AutoMode {
		r.note("EKS Auto Mode runs nodes of this cluster, whose image has aws-node and kube-proxy inside: where it has no other nodes, give --skip aws-node and --skip kube-proxy")
	}
	var err error
	switch format {
	case Manifests:
		err = r.manifests(templates.AddonsManifest, templates.AddonsManifest)
	case Kustomize:
		err = r.kustomize()
	case Helm:
		err = errors.Join(r.helm(), r.checkCharts())
	case Terraform, Eksctl:
		err = r.managed(format)
	default:
		err = fmt.Errorf("%q is no format; allowed: %v", format, Formats())
	}
	r.noteSecret()
	return r.out, err
}

// renderer renders one set of files.
type renderer struct {
	want    Desired
	options RenderOptions
	out     Rendered
	// stored is how many of the files, the first ones, are ConfigMaps.
	stored int
	// secrets are the namespaces in which a file refers to the Secret.
	secrets []string
}

func (r *renderer) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}

// add adds a file: its comments, and a document.
func (r *renderer) add(name, comments string, document any) error {
	text, err := yaml.Marshal(document)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	r.addText(name, comments, text)
	return nil
}

// addText adds a file: its comments, and a text.
func (r *renderer) addText(name, comments string, text []byte) {
	var named []string
	for _, p := range r.options.Placeholders {
		if bytes.Contains(text, []byte(p.Name)) {
			named = append(named, p.Name)
		}
	}
	if len(named) > 0 {
		comments += fillIn(templates.AddonsPlaceholders, map[string]string{"NAMES": strings.Join(named, ", ")})
	}
	r.out.Files = append(r.out.Files, File{name, append([]byte(comments), text...)})
}

// fillIn puts values for the words in percent signs.
func fillIn(text string, words map[string]string) string {
	for word, value := range words {
		text = strings.ReplaceAll(text, "%"+word+"%", value)
	}
	return text
}

// fileName is "kube-system-daemonset-aws-node.yaml".
func fileName(ref kube.Ref) string {
	return fmt.Sprintf("%s-%s-%s.yaml", ref.Namespace, strings.ToLower(ref.Kind.Kind), ref.Name)
}

// placed is a target with the fields that it gets.
type placed struct {
	Target
	fields Fields
}

// place gives the targets their fields, without those that the facts do not have.
func (r *renderer) place() ([]placed, error) {
	var all []placed
	for _, t := range r.want.Targets {
		w, err := r.workload(t)
		if err != nil {
			return nil, err
		}
		if w == nil {
			continue
		}
		fields, _ := r.want.fields(t, w, "")
		if len(fields.Containers) == 0 {
			return nil, fmt.Errorf("%s has no container %s, only %s: it is another program of that name; give --skip %s", t.Ref,
				strings.Join(t.Containers, " or "), strings.Join(w.containers(), ", "), t)
		}
		if t.NoCA != "" && len(r.want.Settings.CAs) > 0 {
			r.note("%s cannot be given the certificates of trustedCA: %s", t.Ref, t.NoCA)
		}
		all = append(all, placed{t, fields})
	}
	return all, nil
}

// workload is a target as far as its containers are known: that is all of a live
// one that decides what it gets. It is nil where the cluster does not have it.
func (r *renderer) workload(t Target) (*workload, error) {
	for _, name := range []string{t.Ref.Namespace, t.Ref.Name} {
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			return nil, fmt.Errorf("%q is no name in Kubernetes: %s", name, wrong[0])
		}
	}
	w := &workload{ref: t.Ref}
	known := r.known(t.Ref)
	switch {
	case known != nil:
		w.template.Spec.InitContainers, w.template.Spec.Containers = named(known.InitContainers), named(known.Containers)
	case r.missing(t):
		r.note("%s is left out: the facts do not have it among the DaemonSets of %s", t.Ref, Namespace)
		return nil, nil
	case len(t.Containers) > 0:
		w.template.Spec.Containers = named(t.Containers)
	default:
		at := fmt.Sprintf("%s/%s/%s", t.Ref.Namespace, strings.ToLower(t.Ref.Kind.Kind), t.Ref.Name)
		return nil, fmt.Errorf("the containers of %s are not known here, since no cluster is asked for them; give --containers %s=NAME,..., with init: before an init container", t.Ref, at)
	}
	for _, c := range podenv.Containers(&w.template) {
		if wrong := validation.IsDNS1123Label(c.Name); len(wrong) > 0 {
			return nil, fmt.Errorf("%q is no name of a container: %s", c.Name, wrong[0])
		}
	}
	return w, nil
}

// known is what was said of a workload; nil where nothing was.
func (r *renderer) known(ref kube.Ref) *facts.Workload {
	all := slices.Concat(r.options.Workloads, r.options.Cluster.DaemonSets)
	i := slices.IndexFunc(all, func(w facts.Workload) bool {
		return w.Namespace == ref.Namespace && w.Name == ref.Name && strings.EqualFold(w.Kind, ref.Kind.Kind)
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}

// missing says that the DaemonSets of kube-system are known, and this one, that
// nobody asked for by name, is not among them.
func (r *renderer) missing(t Target) bool {
	return !t.Named && t.Ref.Kind == kube.DaemonSet() && t.Ref.Namespace == Namespace &&
		r.options.Cluster.Sources[facts.FieldDaemonSets] != ""
}

func named(names []string) []corev1.Container {
	var list []corev1.Container
	for _, n := range names {
		list = append(list, corev1.Container{Name: n})
	}
	return list
}
