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
	"path/filepath"
	"syscall"
	"time"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "plimsoll-expander:", err)
		os.Exit(1)
	}
}

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
		return err
	}
	side, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.metrics)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", server.Metrics())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	metrics := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	log.Info("serving", "grpc", l.Addr().String(), "metrics", side.Addr().String())
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { defer cancel(); served <- metrics.Serve(side) }()
	err = server.Serve(ctx, l)
	err = errors.Join(err, metrics.Close())
	if late := <-served; !errors.Is(late, http.ErrServerClosed) {
		err = errors.Join(err, late)
	}
	return err
}

// flags are the values of the command line.
type flags struct {
	listen, metrics, cert, key, catalog, prices string
	deadline                                    time.Duration
	maxMessage, maxChoices                      int
	overhead                                    offerings.Price
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("plimsoll-expander", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.listen, "listen", ":8443", "`address` of the gRPC service")
	set.StringVar(&f.metrics, "metrics-listen", ":8080", "`address` of /metrics and /healthz, over HTTP")
	set.StringVar(&f.cert, "tls-cert", "", "`FILE` of the certificate in PEM; required, read again when it changes")
	set.StringVar(&f.key, "tls-key", "", "`FILE` of its key in PEM; required")
	set.StringVar(&f.catalog, "catalog", "", "`FILE` of instance types with prices, .json or .csv (default: the embedded catalog of a node's region)")
	set.StringVar(&f.prices, "prices", "", "override catalog prices with `FILE`")
	set.Func("node-overhead", "cost of a node beside its price in `USD` per hour, e.g. of its volume (default 0)", func(s string) (err error) {
		f.overhead, err = offerings.ParsePrice(s)
		return err
	})
	set.DurationVar(&f.deadline, "deadline", 4*time.Second, "longest time for an answer; the autoscaler waits 5s")
	set.IntVar(&f.maxMessage, "max-message-mib", 256, "largest request in MiB")
	set.IntVar(&f.maxChoices, "max-choices", 0, "requests that are planned at once (default: one for each processor)")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	var faults []error
	if set.NArg() > 0 {
		faults = append(faults, fmt.Errorf("argument %q: there are flags only", set.Arg(0)))
	}
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
	var catalog *instancetypes.Catalog
	if f.catalog != "" {
		read := instancetypes.ReadJSON
		if filepath.Ext(f.catalog) == ".csv" {
			read = instancetypes.ReadCSV
		}
		if catalog, err = readFile(f.catalog, read); err != nil {
			return nil, fmt.Errorf("--catalog: %w", err)
		}
	}
	var changes instancetypes.Prices
	if f.prices != "" {
		if changes, err = readFile(f.prices, instancetypes.ReadPrices); err != nil {
			return nil, fmt.Errorf("--prices: %w", err)
		}
	}
	prices, err := expander.NewPrices(catalog, changes, log)
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

// readFile reads a file with the reader of its format. The error names the file.
func readFile[T any](name string, read func(io.Reader) (T, error)) (out T, err error) {
	file, err := os.Open(name)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if out, err = read(file); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}
