package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// PageSize is how many objects one request for a list asks for.
const PageSize = 500

// Kind is a kind of objects and where they are found.
type Kind struct {
	schema.GroupVersionResource
	// Kind is its name, as in "DaemonSet".
	Kind string
}

func kind(group, resource, name string) Kind {
	return Kind{schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}, name}
}

// ConfigMap is the kind of this name, as are those below.
func ConfigMap() Kind { return kind("", "configmaps", "ConfigMap") }

// Secret holds credentials.
func Secret() Kind { return kind("", "secrets", "Secret") }

// Pod is a pod.
func Pod() Kind { return kind("", "pods", "Pod") }

// Namespace is a namespace.
func Namespace() Kind { return kind("", "namespaces", "Namespace") }

// Node is a node.
func Node() Kind { return kind("", "nodes", "Node") }

// DaemonSet is a workload with a pod on each node.
func DaemonSet() Kind { return kind("apps", "daemonsets", "DaemonSet") }

// Deployment is a workload whose pods are alike.
func Deployment() Kind { return kind("apps", "deployments", "Deployment") }

// StatefulSet is a workload whose pods have names.
func StatefulSet() Kind { return kind("apps", "statefulsets", "StatefulSet") }

// ReplicaSet is what a Deployment makes; few have no owner.
func ReplicaSet() Kind { return kind("apps", "replicasets", "ReplicaSet") }

// CronJob makes Jobs.
func CronJob() Kind { return kind("batch", "cronjobs", "CronJob") }

// Job runs once; its template cannot change.
func Job() Kind { return kind("batch", "jobs", "Job") }

// Workloads are the kinds whose pods eksproxy can give an environment.
func Workloads() []Kind {
	return []Kind{DaemonSet(), Deployment(), StatefulSet(), ReplicaSet(), CronJob()}
}

// WorkloadKind finds one of Workloads by its name in any case, singular or
// plural.
func WorkloadKind(name string) (Kind, bool) {
	for _, k := range Workloads() {
		if strings.EqualFold(name, k.Kind) || strings.EqualFold(name, k.Resource) {
			return k, true
		}
	}
	return Kind{}, false
}

// Ref names one object.
type Ref struct {
	Kind            Kind
	Namespace, Name string
}

// String is "DaemonSet kube-system/aws-node".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind.Kind + " " + r.Name
	}
	return r.Kind.Kind + " " + r.Namespace + "/" + r.Name
}

func (c *Client) at(r Ref) dynamic.ResourceInterface {
	if r.Namespace == "" {
		return c.Dynamic.Resource(r.Kind.GroupVersionResource)
	}
	return c.Dynamic.Resource(r.Kind.GroupVersionResource).Namespace(r.Namespace)
}

// Get reads an object; nil where there is none.
func (c *Client) Get(ctx context.Context, r Ref) (*unstructured.Unstructured, error) {
	var found *unstructured.Unstructured
	err := c.again(ctx, "reading "+r.String(), func(ctx context.Context) (err error) {
		found, err = c.at(r).Get(ctx, r.Name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// List calls each with every object of a kind, page after page; an empty
// namespace means all.
func (c *Client) List(ctx context.Context, k Kind, namespace string, o metav1.ListOptions, each func(*unstructured.Unstructured) error) error {
	o.Limit = PageSize
	for {
		var page *unstructured.UnstructuredList
		err := c.again(ctx, "listing "+k.Resource, func(ctx context.Context) (err error) {
			page, err = c.at(Ref{Kind: k, Namespace: namespace}).List(ctx, o)
			return err
		})
		if err != nil {
			return err
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return err
			}
		}
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// ApplyOptions say how an object is applied.
type ApplyOptions struct {
	// Manager is the field manager.
	Manager string
	// Force takes fields from other managers.
	Force bool
	// DryRun asks the server what it would do.
	DryRun bool
}

// Apply applies an object on the server: it comes to own the fields of the
// object, and what it owned before and no longer has goes away. With a uid in
// the object, it is not made anew where it is gone: IsConflict and IsNotFound
// then tell.
func (c *Client) Apply(ctx context.Context, r Ref, object *unstructured.Unstructured, o ApplyOptions) (*unstructured.Unstructured, error) {
	options := metav1.ApplyOptions{FieldManager: o.Manager, Force: o.Force}
	if o.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	var applied *unstructured.Unstructured
	err := c.again(ctx, "sending the "+r.Kind.Kind, func(ctx context.Context) (err error) {
		applied, err = c.at(r).Apply(ctx, r.Name, object, options)
		return err
	})
	return applied, err
}

// ErrGone says that an object is no longer there, or is another one of its name.
var ErrGone = errors.New("it is no longer there, or was made anew by someone")

// modifyLimit bounds how long Modify and Edit try against other writers.
const (
	modifyLimit = 60 * time.Second
	modifyPause = 10 * time.Millisecond // short, to get in between others' writes
)

// Modify reads the object with this uid and sends the merge patch that change
// makes of it, until nobody wrote in between. A nil patch ends it: there is
// nothing to do. It returns ErrGone where the object is not there.
func (c *Client) Modify(ctx context.Context, r Ref, uid types.UID, manager string, change func(*unstructured.Unstructured) (map[string]any, error)) (*unstructured.Unstructured, error) {
	return c.until(ctx, r, uid, func(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, bool, error) {
		patch, err := change(live)
		if err != nil || patch == nil {
			return live, true, err
		}
		meta, _ := patch["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			patch["metadata"] = meta
		}
		meta["resourceVersion"] = live.GetResourceVersion()
		data, err := json.Marshal(patch)
		if err != nil {
			return nil, false, err
		}
		return c.patch(ctx, r, types.MergePatchType, manager, data)
	})
}

// until reads the object and tries to change it, until that is done.
func (c *Client) until(ctx context.Context, r Ref, uid types.UID, try func(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, bool, error)) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, modifyLimit, fmt.Errorf("others wrote to it without a pause, or the server did not answer, for %s", modifyLimit))
	defer cancel()
	var result *unstructured.Unstructured
	err := wait.PollUntilContextCancel(ctx, modifyPause, true, func(ctx context.Context) (done bool, err error) {
		live, err := c.Get(ctx, r)
		if err == nil && (live == nil || live.GetUID() != uid) {
			err = &Error{Doing: "changing " + r.String(), Err: ErrGone}
		}
		if err != nil {
			return false, err
		}
		result, done, err = try(ctx, live)
		return done, err
	})
	if err != nil && ctx.Err() != nil {
		err = &Error{Doing: "changing " + r.String(), Err: context.Cause(ctx)}
	}
	return result, err
}

// Delete deletes the object with this uid, in this version where one is given.
// It is no error where it is gone.
func (c *Client) Delete(ctx context.Context, r Ref, uid types.UID, version string) error {
	precondition := &metav1.Preconditions{UID: &uid}
	if version != "" {
		precondition.ResourceVersion = &version
	}
	err := c.again(ctx, "deleting "+r.String(), func(ctx context.Context) error {
		return c.at(r).Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: precondition})
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Create makes an object that must not be there.
func (c *Client) Create(ctx context.Context, r Ref, object *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	made, err := c.at(r).Create(ctx, object, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		return nil, &Error{Doing: "creating " + r.String(), Proxy: c.throughProxy(), Err: err}
	}
	return made, nil
}
