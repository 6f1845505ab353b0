package clusterautoscaler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/grpcplugin"
)

// service is the gRPC service grpcplugin.Expander.
type service struct {
	chooser  Chooser
	log      *slog.Logger
	deadline time.Duration
	// turns has a place for each request that is read or planned.
	turns   chan struct{}
	metrics *metrics
}

// BestOptions implements [grpcplugin.Expander].
func (s *service) BestOptions(ctx context.Context, decode func() (expander.Request, error)) (*grpcplugin.Response, error) {
	start := time.Now() //nolint:forbidigo // the time that answers take is measured
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	choice, err := s.choose(ctx, decode)
	took := time.Since(start) //nolint:forbidigo // the time that answers take is measured
	s.metrics.observe(choice, resultOf(err), took)
	if err != nil {
		s.log.Error("no choice: the autoscaler goes on with all options", "error", err, "took", took)
		if p := (panicked{}); errors.As(err, &p) {
			s.log.Error("stack of the panic", "stack", string(p.stack))
		}
		return nil, status.Error(codeOf(err), err.Error())
	}
	best := choice.Best[0]
	s.log.Info("choice", "nodeGroups", groups(choice.Best), "nodes", best.NodeCount, "pods", len(best.Pods), "pricePerHour", best.Price.String(),
		"plannedPricePerHour", best.PlannedPrice, "options", len(choice.Options), "skipped", choice.Skipped, "took", took)
	response := &grpcplugin.Response{}
	for _, o := range choice.Best {
		response.Options = append(response.Options, o.Option)
	}
	return response, nil
}

// choose waits for a turn, reads the request and has it planned. It returns when ctx ends, though the planner may go on for
// a while, and then keeps its turn.
func (s *service) choose(ctx context.Context, decode func() (expander.Request, error)) (expander.Choice, error) {
	select {
	case s.turns <- struct{}{}:
	case <-ctx.Done():
		return expander.Choice{}, fmt.Errorf("%d other requests are being planned: %w", cap(s.turns), ctx.Err())
	}
	request, err := safely(decode) // here, because the bytes of the message are gone once BestOptions has returned
	if err != nil {
		<-s.turns
		return expander.Choice{}, malformed{err}
	}
	type result struct {
		choice expander.Choice
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-s.turns }()
		choice, err := safely(func() (expander.Choice, error) { return s.chooser.Choose(ctx, request) })
		if err == nil && len(choice.Best) == 0 {
			err = expander.ErrNoChoice // because the autoscaler takes an empty answer as an order to do nothing
		}
		done <- result{choice, err}
	}()
	select {
	case r := <-done:
		return r.choice, r.err
	case <-ctx.Done():
		return expander.Choice{}, fmt.Errorf("plan of %d options: %w", len(request.Options), ctx.Err())
	}
}

// safely calls a function, and turns its panic into the error of a request.
func safely[T any](call func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked{fmt.Errorf("panic: %v", r), debug.Stack()}
		}
	}()
	return call()
}

// panicked is the error of a request that made the program panic, with the stack.
type panicked struct {
	error
	stack []byte
}

// malformed is the error of a request that cannot be read.
type malformed struct{ error }

// Unwrap returns the reason.
func (m malformed) Unwrap() error { return m.error }

// The results of requests, for metrics.
const (
	resultChosen    = "chosen"
	resultMalformed = "malformed"
	resultLate      = "deadline"
	resultPanic     = "panic"
	resultNone      = "no_choice"
)

// resultOf is the result of a request that ended with err.
func resultOf(err error) string {
	switch {
	case err == nil:
		return resultChosen
	case errors.As(err, new(panicked)):
		return resultPanic
	case errors.As(err, new(malformed)):
		return resultMalformed
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return resultLate
	}
	return resultNone
}

// codeOf is the code that gRPC has for an error.
func codeOf(err error) codes.Code {
	switch resultOf(err) {
	case resultMalformed:
		return codes.InvalidArgument
	case resultLate:
		return codes.DeadlineExceeded
	case resultPanic:
		return codes.Internal
	}
	return codes.FailedPrecondition
}

// groups are the ids of the groups of options.
func groups(options []expander.Scored) string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.NodeGroup
	}
	return strings.Join(ids, ",")
}
