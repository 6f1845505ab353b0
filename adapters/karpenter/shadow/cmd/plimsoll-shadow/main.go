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
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter/shadow"
	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// syncTimeout bounds the time until all objects are listed.
const syncTimeout = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "plimsoll-shadow:", err)
		os.Exit(1)
	}
}

// flags are the values of the command line.
type flags struct {
	kubeconfig, context, catalog, region, prices, listen string
	effort                                               scheduling.Effort
	every, timeout, batchIdle, batchMax                  time.Duration
	events                                               bool
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{effort: scheduling.EffortFast}
	set := flag.NewFlagSet("plimsoll-shadow", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "`FILE` with the cluster's address (default: the pod's own cluster, or $KUBECONFIG, or ~/.kube/config)")
	set.StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current one)")
	set.StringVar(&f.catalog, "catalog", "", "`FILE` of instance types with prices, .json or .csv (default: the embedded catalog of the region)")
	set.StringVar(&f.region, "region", "", "region of the embedded catalog, e.g. us-east-1 (default: that of the cluster's nodes)")
	set.StringVar(&f.prices, "prices", "", "override catalog prices with `FILE`")
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
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	var faults []error
	if set.NArg() > 0 {
		faults = append(faults, fmt.Errorf("argument %q: there are flags only", set.Arg(0)))
	}
	if f.catalog != "" && f.region != "" {
		faults = append(faults, fmt.Errorf("--region=%s: has no effect with --catalog", f.region))
	}
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
	reading := rest.CopyConfig(config)
	reading.Wrap(func(to http.RoundTripper) http.RoundTripper { return readOnly{to} })
	custom, err := dynamic.NewForConfig(reading)
	if err != nil {
		return err
	}
	reading.ContentType, reading.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(reading)
	if err != nil {
		return err
	}
	catalog, err := f.openCatalog(ctx, client)
	if err != nil {
		return err
	}
	log.Info("prices", "catalog", catalog.Origin())
	ctx, cancel := context.WithCancelCause(ctx)
	var background sync.WaitGroup
	defer func() {
		cancel(nil)
		background.Wait()
	}()
	options := shadow.Options{
		Catalog: catalog, Policy: scheduling.Policy{Effort: f.effort},
		BatchIdle: f.batchIdle, BatchMax: f.batchMax, ConsolidateEvery: f.every, PlanTimeout: f.timeout, Log: log,
	}
	if f.every == 0 {
		options.ConsolidateEvery = -1
	}
	if f.events {
		writer, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		e := newEvents(writer, log)
		options.Decided = e.add
		background.Go(func() { e.write(ctx) })
	}
	s, err := shadow.New(options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	var ready atomic.Bool
	server := &http.Server{Handler: handler(s, &ready), ReadHeaderTimeout: 5 * time.Second}
	log.Info("serving", "address", listener.Addr().String())
	background.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			cancel(err)
		}
	})
	defer func() { _ = server.Close() }() // the process ends
	late := time.AfterFunc(syncTimeout, func() {
		cancel(fmt.Errorf("not listed within %v: are the permissions of deploy.yaml given?", syncTimeout))
	})
	err = shadow.Watch(ctx, client, custom, s)
	late.Stop()
	if err != nil {
		return err
	}
	ready.Store(true)
	log.Info("watching")
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// handler serves metrics and probes.
func handler(s *shadow.Shadow, ready *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", openmetrics.ContentType)
		_ = s.WriteMetrics(w) // the client is gone
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "objects are being listed")
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
