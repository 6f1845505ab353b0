package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/week"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// load makes an instance of manifests. It is named by the market and the first file.
func load(files []string, markets []corpus.Market, stderr io.Writer) (in corpus.Instance, err error) {
	if len(markets) != 1 {
		return in, errors.New("-f: want one of -markets, whose machines are bought")
	}
	m := markets[0]
	snapshot, err := manifest.Loader{}.Load(files...)
	if err != nil {
		return in, err
	}
	snapshot.AssumeNodePools()
	if len(snapshot.Problem.NodePools) == 0 {
		snapshot.Problem.NodePools = manifest.DefaultNodePools(m.Catalog, snapshot.Problem.Pods)
	}
	if err := snapshot.SetCatalog(m.Catalog); err != nil {
		return in, err
	}
	for _, w := range snapshot.Warnings {
		fmt.Fprintf(stderr, "warning: %s: %s\n", w.Object, w.Message)
	}
	name := filepath.Base(files[0])
	in.Corpus = strings.TrimSuffix(name, filepath.Ext(name))
	in.Name, in.Problem = m.Name+"/"+in.Corpus, snapshot.Problem
	in.TopologyTerms = len(in.Problem.DefaultSpread) > 0 || slices.ContainsFunc(in.Problem.Pods, func(pod *corev1.Pod) bool {
		a := pod.Spec.Affinity
		return len(pod.Spec.TopologySpreadConstraints) > 0 || a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil)
	})
	return in, nil
}

// keep writes an outcome down as a plan, if that is wanted.
func (s *settings) keep(in corpus.Instance, p peer.Peer, o peer.Outcome) error {
	if s.plans == "" {
		return nil
	}
	text, err := json.MarshalIndent(o.Plan(in.Problem), "", " ")
	if err != nil {
		return err
	}
	file := filepath.Join(s.plans, filepath.FromSlash(in.Name), strings.ReplaceAll(p.Name(), " ", "-")+".json")
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}

// readRuns reads the results of simulated weeks from a file, one in each line; none where there is no file.
func readRuns(file string) (out []week.Result, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range slices.Collect(strings.Lines(string(text))) {
		var r week.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("-runs: %s: line %d: %w", file, i+1, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// addRun adds a result to the file of readRuns.
func addRun(file string, r week.Result) (err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(append(text, '\n'))
	return err
}
