package addons

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// EKS are the calls of EKS by which add-ons are configured; *eks.Client has them.
type EKS interface {
	eks.DescribeAddonAPIClient
	DescribeAddonConfiguration(context.Context, *eks.DescribeAddonConfigurationInput, ...func(*eks.Options)) (*eks.DescribeAddonConfigurationOutput, error)
	UpdateAddon(context.Context, *eks.UpdateAddonInput, ...func(*eks.Options)) (*eks.UpdateAddonOutput, error)
	DescribeUpdate(context.Context, *eks.DescribeUpdateInput, ...func(*eks.Options)) (*eks.DescribeUpdateOutput, error)
}

// Managed says how add-ons that EKS manages are reached. Its zero value leaves
// every component to the in-cluster route.
type Managed struct {
	// Cluster is the name of the EKS cluster, Region where it is.
	Cluster, Region string
	// Connect makes a client of EKS for a cluster; nil where AWS is not to be
	// asked.
	Connect func(ctx context.Context, cluster, region string) (EKS, error)
}

// UpdateError is an update of an add-on that EKS refused, or that did not end
// well.
type UpdateError struct {
	Addon, ID string
	// Status is Failed, Cancelled, or empty where EKS refused the call.
	Status types.UpdateStatus
	// Why is what EKS says, in one line.
	Why string
}

func (e *UpdateError) Error() string {
	if e.Status == "" {
		return fmt.Sprintf("updating the add-on %s: EKS refuses: %s", e.Addon, e.Why)
	}
	return fmt.Sprintf("updating the add-on %s: the update %s has ended as %s: %s", e.Addon, e.ID, e.Status, e.Why)
}

// CallError is a call of AWS that told nothing: it was denied, or nobody answered.
type CallError struct {
	// Action is as IAM names it, as in "eks:DescribeAddon".
	Action string
	// Denied says that the answer was no.
	Denied bool
	Err    error
}

func (e *CallError) Error() string {
	if e.Denied {
		return fmt.Sprintf("%s: %v; grant it (docs/permissions.md)", e.Action, apiText(e.Err))
	}
	return fmt.Sprintf("%s: %v; try again, and look at HTTPS_PROXY and NO_PROXY of this command", e.Action, apiText(e.Err))
}

// Unwrap is the cause.
func (e *CallError) Unwrap() error { return e.Err }

func calling(action string, err error) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*smithyhttp.ResponseError](err)
	denied := ok && answer.HTTPStatusCode() < http.StatusInternalServerError && answer.HTTPStatusCode() != http.StatusTooManyRequests
	return &CallError{action, denied, err}
}

// apiText is an error without what the SDK writes around it.
func apiText(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode() + ": " + strings.Join(strings.Fields(api.ErrorMessage()), " ")
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// addon is one add-on that EKS manages, as it is now.
type addon struct {
	name, version string
	// values are its configuration values, as they were written.
	values string
	// role is the ARN of its service account's role; empty where it has none.
	role   string
	tags   map[string]string
	schema *Schema
}

// managedClient updates add-ons of one cluster.
type managedClient struct {
	eks             EKS
	cluster, region string
	// limit bounds the wait for an update.
	limit time.Duration
	tell  func(format string, args ...any)
}

// read reads an add-on and the schema of its version.
func (m managedClient) read(ctx context.Context, name string) (addon, error) {
	out, err := m.eks.DescribeAddon(ctx, &eks.DescribeAddonInput{ClusterName: &m.cluster, AddonName: &name})
	if err == nil && out.Addon == nil {
		err = errors.New("the answer has no add-on")
	}
	if err != nil {
		return addon{}, calling("eks:DescribeAddon", err)
	}
	a := addon{
		name: name, version: aws.ToString(out.Addon.AddonVersion), values: aws.ToString(out.Addon.ConfigurationValues),
		role: aws.ToString(out.Addon.ServiceAccountRoleArn), tags: out.Addon.Tags,
	}
	schema, err := m.eks.DescribeAddonConfiguration(ctx, &eks.DescribeAddonConfigurationInput{AddonName: &name, AddonVersion: &a.version})
	if err != nil {
		return a, calling("eks:DescribeAddonConfiguration", err)
	}
	if text := aws.ToString(schema.ConfigurationSchema); strings.TrimSpace(text) != "" {
		if a.schema, err = ParseSchema(text); err != nil {
			return a, fmt.Errorf("add-on %s %s: %w", name, a.version, err)
		}
	}
	return a, nil
}

// updatePause is how far two questions for an update are apart, and grows to
// updatePauseMost: an update takes from some seconds to minutes.
const (
	updatePause     = 250 * time.Millisecond
	updatePauseMost = 5 * time.Second
)

// update gives an add-on other configuration values, and waits until EKS has
// applied them. The version is left out, which keeps it, and so are the Pod
// Identity associations. The role is given again: without it EKS falls back to
// that of the node (terraform-provider-aws issue 19402).
func (m managedClient) update(ctx context.Context, a addon, values string) error {
	if strings.TrimSpace(values) == "" {
		values = "{}" // no values at all would keep those that are there
	}
	in := &eks.UpdateAddonInput{
		ClusterName: &m.cluster, AddonName: &a.name, ConfigurationValues: &values, ResolveConflicts: types.ResolveConflictsPreserve,
	}
	if a.role != "" {
		in.ServiceAccountRoleArn = &a.role
	}
	out, err := m.eks.UpdateAddon(ctx, in)
	if err == nil && (out.Update == nil || out.Update.Id == nil) {
		err = errors.New("the answer names no update")
	}
	if err != nil {
		failure := calling("eks:UpdateAddon", err)
		if call, ok := errors.AsType[*CallError](failure); ok && call.Denied && !isAccess(err) {
			return &UpdateError{Addon: a.name, Why: apiText(err)}
		}
		return failure
	}
	m.tell("%s: EKS applies the configuration, update %s", a.name, *out.Update.Id)
	return m.await(ctx, a.name, *out.Update.Id)
}

// isAccess says that a call was refused for who made it, not for what it asks.
func isAccess(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains([]string{"AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException", "InvalidSignatureException"}, api.ErrorCode())
}

// await waits for the end of an update. A question that is not answered is asked
// again: the update goes on meanwhile.
func (m managedClient) await(ctx context.Context, name, id string) error {
	limit := fmt.Errorf("the update %s of the add-on %s has not ended within %s: aws eks describe-update --name %s --addon-name %s --update-id %s shows how it stands", id, name, m.limit, m.cluster, name, id)
	ctx, cancel := context.WithTimeoutCause(ctx, m.limit, limit)
	defer cancel()
	for pause := updatePause; ; pause = min(pause*2, updatePauseMost) {
		out, err := m.eks.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: &m.cluster, AddonName: &name, UpdateId: &id})
		failure, _ := errors.AsType[*CallError](calling("eks:DescribeUpdate", err))
		switch {
		case err != nil && failure.Denied:
			return failure
		case err != nil || out.Update == nil || out.Update.Status == types.UpdateStatusInProgress:
		case out.Update.Status == types.UpdateStatusSuccessful:
			return nil
		default:
			return &UpdateError{name, id, out.Update.Status, reasons(out.Update.Errors)}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// reasons are the errors of an update in one line.
func reasons(errs []types.ErrorDetail) string {
	var texts []string
	for _, e := range errs {
		texts = append(texts, string(e.ErrorCode)+": "+strings.Join(strings.Fields(aws.ToString(e.ErrorMessage)), " "))
	}
	if len(texts) == 0 {
		return "EKS gives no reason"
	}
	return strings.Join(texts, "; ")
}

// Unanswered says that an error is a call of AWS that told nothing.
func Unanswered(err error) bool {
	_, ok := errors.AsType[*CallError](err)
	return ok
}
