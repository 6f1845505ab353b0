package main

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// instance is a published instance of vector bin packing, the optimum, and the paper's best result.
type instance struct {
	name    string // of its file
	class   string
	bin     []int64
	items   [][]int64
	optimum int // -1 where it is not known
	best    int // the fewest bins of any of the paper's heuristics
}

// vectorpack packs instances of a checkout.
func vectorpack(ctx context.Context, s *settings, checkout string, out io.Writer) error {
	var all []instance
	for _, set := range []string{"New", "Panigrahy", "Triplet"} {
		list, err := readInstances(checkout, set)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	var chosen []*instance
	for i := 0; i < len(all); i += s.every {
		chosen = append(chosen, &all[i])
	}
	var packed []packing
	err := each(s.parallel, len(chosen), func(i int) (packing, error) {
		in := chosen[i]
		p, err := in.problem()
		if err != nil {
			return packing{}, fmt.Errorf("%s: %w", in.name, err)
		}
		plan, err := s.solve(ctx, p)
		if err == nil && len(plan.Unschedulable) > 0 {
			err = errors.New("items are left out")
		}
		if err != nil {
			return packing{}, fmt.Errorf("%s: %w", in.name, err)
		}
		return packing{in, plan}, nil
	}, func(p packing) { packed = append(packed, p) })
	fmt.Fprint(out, "| class | instances | optimum known | reached | fewer bins than the best heuristic | as many | more | bins | best heuristic's | mean gap | seconds |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	classes := lo.GroupBy(packed, func(p packing) string { return p.class })
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		writeClass(out, class, classes[class])
	}
	writeClass(out, "all", packed)
	return err
}

// packing is a plan of an instance.
type packing struct {
	*instance
	answer
}

// writeClass writes the sums of some packings.
func writeClass(out io.Writer, class string, list []packing) {
	count := func(is func(packing) bool) int { return lo.CountBy(list, is) }
	fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %.2f %% | %.1f |\n", class, len(list),
		count(func(p packing) bool { return p.optimum >= 0 }),
		count(func(p packing) bool { return p.Summary.Nodes == p.optimum }),
		count(func(p packing) bool { return p.Summary.Nodes < p.best }),
		count(func(p packing) bool { return p.Summary.Nodes == p.best }),
		count(func(p packing) bool { return p.Summary.Nodes > p.best }),
		lo.SumBy(list, func(p packing) int { return p.Summary.Nodes }),
		lo.SumBy(list, func(p packing) int { return p.best }),
		100*lo.MeanBy(list, func(p packing) float64 { return p.Summary.Gap }),
		lo.SumBy(list, func(p packing) float64 { return p.took.Seconds() }))
}

// readInstances reads the instances of one of the sets, sorted by class, number of items,
// number of dimensions and number.
func readInstances(checkout, set string) ([]instance, error) {
	file, err := os.Open(filepath.Join(checkout, "data", set+"_instances.tar.gz"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	known, err := readResults(filepath.Join(checkout, "results_data", set+"_summary_known.csv"))
	if err != nil {
		return nil, err
	}
	var out []instance
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutSuffix(filepath.Base(header.Name), ".vbp")
		if !ok {
			continue
		}
		class, _, _ := strings.Cut(name, "_")
		in := instance{name: name, class: set + " " + class}
		if in.optimum, ok = known[name]["OPT"]; !ok {
			return nil, fmt.Errorf("%s: no results", name)
		}
		in.best = known[name]["best_overall"]
		if err := in.read(archive); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b instance) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(len(a.items), len(b.items)), cmp.Compare(len(a.bin), len(b.bin)), cmp.Compare(a.name, b.name))
	})
	return out, nil
}

// readResults reads a table of results: by instance, then by column.
func readResults(path string) (map[string]map[string]int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	in := csv.NewReader(file)
	in.Comma = '\t'
	lines, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]int{}
	for _, line := range lines[min(1, len(lines)):] {
		out[line[0]] = map[string]int{}
		for i, text := range line[1:] {
			if out[line[0]][lines[0][i+1]], err = strconv.Atoi(text); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return out, nil
}

// read reads the format of VPSolver: the number of dimensions, the size of a bin, the number
// of kinds of items, and of each kind its size and number. Sizes below 0, of which the set
// Triplet has some, are read as 0.
func (in *instance) read(r io.Reader) (err error) {
	words := bufio.NewReader(r)
	next := func() (n int64) {
		if err == nil {
			_, err = fmt.Fscan(words, &n)
		}
		return n
	}
	dimensions := int(next())
	size := func() []int64 { return lo.Times(dimensions, func(int) int64 { return max(0, next()) }) }
	in.bin = size()
	for range next() {
		item := size()
		for range next() {
			in.items = append(in.items, item)
		}
	}
	return err
}

// problem is the instance with a pod for each item, one type of machine for the bin, at 1 USD
// per hour, and an extended resource for each dimension.
func (in *instance) problem() (scheduling.Problem, error) {
	amounts := func(size []int64) []st.ResourceAmount {
		var out []st.ResourceAmount
		for i, n := range size {
			out = append(out, st.Count(corev1.ResourceName(fmt.Sprintf("example.com/dimension-%d", i)), n))
		}
		return out
	}
	room := append(amounts(in.bin), st.Cores(1), st.GiB(1), st.Count(corev1.ResourcePods, int64(len(in.items))))
	catalog, err := instancetypes.NewCatalog(st.Type("bin", st.Capacity(room...), st.OnDemand("a", offerings.Price(1e9))))
	p := scheduling.Problem{Catalog: catalog, NodePools: []*scheduling.NodePool{st.NodePool("bins")}}
	for i, size := range in.items {
		p.Pods = append(p.Pods, st.Pod(fmt.Sprintf("item-%04d", i), st.Requests(amounts(size)...)))
	}
	return p, err
}
