package cluster

import (
	"errors"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// maxParallel bounds calls side by side: EKS throttles an account.
const maxParallel = 4

// each asks for every name, a few side by side, and keeps the order. What is
// gone since it was listed has the zero value.
func each[T any](names []string, ask func(string) (T, error)) ([]T, error) {
	found, errs := make([]T, len(names)), make([]error, len(names))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			found[i], errs[i] = ask(name)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if _, gone := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !gone {
			return nil, err
		}
	}
	return found, nil
}
