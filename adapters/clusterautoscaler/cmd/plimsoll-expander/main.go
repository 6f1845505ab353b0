package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/internal/serving"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func main() { os.Exit(serving.Main("plimsoll-expander", run)) }

// run serves until ctx ends. The log goes to stderr.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	f, err := parse(args, stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	server, err := f.server(log)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	side, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.metrics)
	if err != nil {
		return errors.Join(fmt.Errorf("--metrics-listen: %w", err), l.Close())
	}
	log.Info("serving", "grpc", l.Addr().String(), "metrics", side.Addr().String())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serving.Endpoints{Metrics: server.WriteMetrics}.Serve(ctx, side) })
	group.Go(func() error { return server.Serve(ctx, l) })
	return group.Wait()
}

// flags are the values of the command line.
type flags struct {
	listen, metrics, cert, key string
	market                     clouds.Flags
	deadline                   time.Duration
	maxMessage, maxChoices     int
	overhead                   offerings.Price
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("plimsoll-expander", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.listen, "listen", ":8443", "`address` of the gRPC service")
	set.StringVar(&f.metrics, "metrics-listen", ":8080", "`address` of /metrics and /healthz, over HTTP")
	set.StringVar(&f.cert, "tls-cert", "", "`FILE` of the certificate in PEM; required, read again when it changes")
	set.StringVar(&f.key, "tls-key", "", "`FILE` of its key in PEM; required")
	f.market.Register(set, "the embedded catalog of a node's region")
	set.Func("node-overhead", "cost of a node beside its price in `USD` per hour, e.g. of its volume (default 0)", func(s string) (err error) {
		f.overhead, err = offerings.ParsePrice(s)
		return err
	})
	set.DurationVar(&f.deadline, "deadline", 4*time.Second, "longest time for an answer; the autoscaler waits 5s")
	set.IntVar(&f.maxMessage, "max-message-mib", 256, "largest request in MiB")
	set.IntVar(&f.maxChoices, "max-choices", 0, "requests that are planned at once (default: one for each processor)")
	if err := serving.Parse(set, args); err != nil {
		return nil, err
	}
	var faults []error
	if f.cert == "" {
		faults = append(faults, errors.New("--tls-cert: must be set, because Cluster Autoscaler connects by TLS alone"))
	}
	if f.key == "" {
		faults = append(faults, errors.New("--tls-key: must be set"))
	}
	if f.deadline <= 0 {
		faults = append(faults, fmt.Errorf("--deadline=%v: must be above 0", f.deadline))
	}
	if f.maxMessage < 1 || f.maxMessage > 2047 {
		faults = append(faults, fmt.Errorf("--max-message-mib=%d: must be from 1 to 2047", f.maxMessage))
	}
	if f.maxChoices < 0 {
		faults = append(faults, fmt.Errorf("--max-choices=%d: must not be negative", f.maxChoices))
	}
	return f, errors.Join(faults...)
}

// server is the server with these flags.
func (f *flags) server(log *slog.Logger) (*clusterautoscaler.Server, error) {
	certificate, err := clusterautoscaler.LoadCertificate(f.cert, f.key, log)
	if err != nil {
		return nil, err
	}
	catalog, err := f.market.Catalog()
	if err != nil {
		return nil, err
	}
	changes, err := f.market.Prices(catalog)
	if err != nil {
		return nil, err
	}
	prices, err := expander.NewPrices(catalog, log, changes...)
	if err != nil {
		return nil, fmt.Errorf("--prices: %w", err)
	}
	return clusterautoscaler.NewServer(clusterautoscaler.Settings{
		Chooser:  &expander.Chooser{Prices: prices, NodeOverhead: f.overhead},
		TLS:      certificate.TLS(),
		Log:      log,
		Deadline: f.deadline, MaxMessageBytes: f.maxMessage << 20, MaxChoices: f.maxChoices,
	})
}
