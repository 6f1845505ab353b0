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
