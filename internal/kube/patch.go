package kube

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Operation is one operation of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Edit reads the object with this uid and sends the JSON patch that change makes
// of it. Its tests guard what it changes, so that other writers do not disturb
// it; where one fails, or there is no answer, change is asked again. No operation
// at all ends it: there is nothing to do. It returns ErrGone where the object is
// not there.
func (c *Client) Edit(ctx context.Context, r Ref, uid types.UID, manager string, change func(*unstructured.Unstructured) ([]Operation, error)) (*unstructured.Unstructured, error) {
	return c.until(ctx, r, uid, func(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, bool, error) {
		operations, err := change(live)
		if err != nil || len(operations) == 0 {
			return live, true, err
		}
		guard := Operation{"test", "/metadata/uid", string(uid)}
		data, err := json.Marshal(append([]Operation{guard}, operations...))
		if err != nil {
			return nil, false, err
		}
		return c.patch(ctx, r, types.JSONPatchType, manager, data)
	})
}

// patch sends one patch, once. What was not answered, or was overtaken, is not
// done: it is for the caller to look again.
func (c *Client) patch(ctx context.Context, r Ref, kind types.PatchType, manager string, data []byte) (result *unstructured.Unstructured, done bool, err error) {
	result, err = c.at(r).Patch(ctx, r.Name, kind, data, metav1.PatchOptions{FieldManager: manager})
	switch {
	case err == nil:
		return result, true, nil
	case ctx.Err() == nil && (apierrors.IsConflict(err) || unanswered(err) || busy(err) || kind == types.JSONPatchType && testFailed(err)):
		return nil, false, nil
	}
	return nil, false, &Error{Doing: "changing " + r.String(), Proxy: c.throughProxy(), Err: err}
}

// testFailed says that a test of a JSON patch failed: the API server gives it as
// an invalid request.
func testFailed(err error) bool {
	return apierrors.IsInvalid(err) && jsonTest.MatchString(err.Error())
}
