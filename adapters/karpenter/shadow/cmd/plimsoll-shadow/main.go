package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter/shadow"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/internal/serving"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// syncTimeout bounds the time until all objects are listed.
const syncTimeout = 2 * time.Minute

func main() { os.Exit(serving.Main("plimsoll-shadow", run)) }

// flags are the values of the command line.
type flags struct {
	kubeconfig, context, listen         string
	market                              clouds.Flags
	effort                              scheduling.Effort
	every, timeout, batchIdle, batchMax time.Duration
	events                              bool
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{effort: scheduling.EffortFast}
	set := flag.NewFlagSet("plimsoll-shadow", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "`FILE` with the cluster's address (default: the pod's own cluster, or $KUBECONFIG, or ~/.kube/config)")
	set.StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current one)")
	f.market.Register(set, "the embedded catalog of the nodes' region")
	set.StringVar(&f.listen, "listen", ":8080", "`address` of /metrics, /healthz and /readyz, over HTTP")
	set.BoolVar(&f.events, "events", false, "also write each compared decision as an event of its NodeClaim; needs the permission in events.yaml")
	set.DurationVar(&f.every, "consolidate-every", 10*time.Minute, "time between two plans for the whole cluster; 0 makes none")
	set.DurationVar(&f.timeout, "plan-timeout", time.Minute, "longest time for a plan; the best plan by then counts")
	set.DurationVar(&f.batchIdle, "batch-idle-duration", time.Second, "that of Karpenter: a decision is complete once no NodeClaim has come for so long")
	set.DurationVar(&f.batchMax, "batch-max-duration", 10*time.Second, "that of Karpenter: a decision is complete after so long")
	set.Func("effort", "how hard to search: fast, default or thorough (default fast)", func(s string) (err error) {
		f.effort, err = scheduling.ParseEffort(s)
		return err
	})
	if err := serving.Parse(set, args); err != nil {
		return nil, err
	}
	var faults []error
	if f.every < 0 {
		faults = append(faults, fmt.Errorf("--consolidate-every=%v: must not be negative", f.every))
	}
	if f.batchIdle <= 0 || f.batchMax < f.batchIdle {
		faults = append(faults, fmt.Errorf("--batch-idle-duration=%v, --batch-max-duration=%v: must be above 0, the second one not below the first", f.batchIdle, f.batchMax))
	}
	if f.timeout <= 0 {
		faults = append(faults, fmt.Errorf("--plan-timeout=%v: must be above 0", f.timeout))
	}
	return f, errors.Join(faults...)
}

// config is the cluster to watch.
func (f *flags) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.UserAgent = "plimsoll-shadow"
	return config, nil
}

// readOnly refuses requests that could change something, so that the program cannot, whatever it may do.
type readOnly struct{ to http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (r readOnly) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s: the shadow only reads", q.Method, q.URL.Path)
	}
	return r.to.RoundTrip(q)
}

// readers are clients that only read.
func readers(config *rest.Config) (client kubernetes.Interface, custom dynamic.Interface, err error) {
	reading := rest.CopyConfig(config)
	reading.Wrap(func(to http.RoundTripper) http.RoundTripper { return readOnly{to} })
	if custom, err = dynamic.NewForConfig(reading); err != nil {
		return nil, nil, err
	}
	reading.ContentType, reading.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	client, err = kubernetes.NewForConfig(reading)
	return client, custom, err
}

// run watches until ctx ends. The log goes to stderr.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	f, err := parse(args, stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	config, err := f.config()
	if err != nil {
		return err
	}
	client, custom, err := readers(config)
	if err != nil {
		return err
	}
	catalog, err := f.catalog(ctx, client, log)
	if err != nil {
		return err
	}
	log.Info("prices", "catalog", catalog.Origin())
	options := shadow.Options{
		Catalog: catalog, Policy: scheduling.Policy{Effort: f.effort},
		BatchIdle: f.batchIdle, BatchMax: f.batchMax, ConsolidateEvery: f.every, PlanTimeout: f.timeout, Log: log,
	}
	if f.every == 0 {
		options.ConsolidateEvery = -1
	}
	var written *events
	if f.events {
		writer, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		written = newEvents(writer, log)
		options.Decided = written.add
	}
	s, err := shadow.New(options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	log.Info("serving", "address", listener.Addr().String())
	var ready atomic.Bool
	endpoints := serving.Endpoints{Metrics: s.WriteMetrics, Ready: func() error {
		if !ready.Load() {
			return errors.New("objects are being listed")
		}
		return nil
	}}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return endpoints.Serve(ctx, listener) })
	if written != nil {
		group.Go(func() error { written.write(ctx); return nil })
	}
	group.Go(func() error {
		if err := watch(ctx, client, custom, s); err != nil {
			return err
		}
		ready.Store(true)
		log.Info("watching")
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	return group.Wait()
}

// watch tells the shadow of the cluster's objects until ctx ends. It returns once all are listed.
func watch(ctx context.Context, client kubernetes.Interface, custom dynamic.Interface, s *shadow.Shadow) error {
	listed := make(chan error, 1)
	go func() { listed <- shadow.Watch(ctx, client, custom, s) }()
	select {
	case err := <-listed:
		return err
	case <-time.After(syncTimeout):
		return fmt.Errorf("not listed within %v: are the permissions of deploy.yaml given?", syncTimeout)
	}
}
