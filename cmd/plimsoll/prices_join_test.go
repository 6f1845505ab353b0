package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const recorded = "../../examples/prices/"

// Lists of several kinds become one file, in an order that does not depend on theirs, which --prices takes.
func TestPriceListsAreJoined(t *testing.T) {
	r := run(t, "prices", recorded+"aws-products.json", recorded+"spot-price-history.json")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, strings.ReplaceAll(`warning: FOLDERaws-products.json: left out of the EC2 price list: products of the capacity status "UnusedCapacityReservation" (1), products of the tenancy "Dedicated" (1), products with the operating system "Windows" (1)
note: FOLDERaws-products.json: 6 on-demand prices in us-east-1 as of 2026-11-20 (EC2 price list)
warning: FOLDERspot-price-history.json: left out of the EC2 spot price history: prices of "Windows" (1)
note: FOLDERspot-price-history.json: 18 spot prices in us-east-1 as of 2026-11-21 (EC2 spot price history)
`, "FOLDER", recorded), r.stderr)
	require.Contains(t, r.stdout, `
{"region":"us-east-1","instanceType":"c7g.large","capacityType":"on-demand","price":0.0725,"date":"2026-11-20","priceList":"EC2 price list"},
{"region":"us-east-1","instanceType":"c7g.large","capacityType":"spot","zone":"us-east-1a","zoneID":"use1-az1","price":0.0271,"date":"2026-11-21","priceList":"EC2 spot price history"},
`)
	require.Equal(t, r.stdout, run(t, "prices", recorded+"spot-price-history.json", recorded+"aws-products.json").stdout)

	file := filepath.Join(t.TempDir(), "prices.json")
	require.Empty(t, run(t, "prices", recorded+"aws-products.json", recorded+"spot-price-history.json", "-o", file).stdout)
	again := run(t, "prices", file)
	require.Equal(t, r.stdout, again.stdout, "a file that was written before is read")
	joined := run(t, "plan", "-f", recorded+"cluster.yaml", "--prices", file, "-o", "json")
	require.Equal(t, exitOK, joined.code, joined.stderr)
	lists := run(t, "plan", "-f", recorded+"cluster.yaml", "--prices", recorded+"aws-products.json", "--prices", recorded+"spot-price-history.json", "-o", "json")
	require.Equal(t, decodePlan(t, lists.stdout).Launches, decodePlan(t, joined.stdout).Launches)
	require.NotContains(t, joined.stderr, "match no offering")
	sources := run(t, "catalog", "--sources", "--catalog", "ec2/us-east-1", "--prices", file).stdout
	require.Contains(t, sources, file+": EC2 price list\n  date: 2026-11-20\n")
	require.Contains(t, sources, file+": EC2 spot price history\n  date: 2026-11-21\n")
}

// The newest price counts, of equally old ones that of the later file. Prices of other regions are not missed.
func TestNewestPriceCounts(t *testing.T) {
	list := func(name, date, price string) string {
		return temp(t, name, `{"prices": [{"region": "us-east-1", "instanceType": "m5.large", "capacityType": "on-demand", "price": `+price+`, "date": "`+date+`"},
			{"region": "eu-west-1", "instanceType": "m5.large", "capacityType": "on-demand", "price": 0.107}]}`)
	}
	older, newer, same := list("older.json", "2026-10-01", "0.2"), list("newer.json", "2026-11-01", "0.3"), list("same.json", "2026-11-01", "0.4")
	price := func(files ...string) string {
		r := run(t, append(append([]string{"prices"}, files...), "--date", "2026-11-02")...)
		require.Equal(t, exitOK, r.code, r.stderr)
		_, rest, _ := strings.Cut(r.stdout, `"us-east-1","instanceType":"m5.large","capacityType":"on-demand","price":`)
		found, _, _ := strings.Cut(rest, ",")
		require.Contains(t, r.stdout, `"price":0.107,"date":"2026-11-02"}`)
		return found
	}
	require.Equal(t, "0.3", price(older, newer))
	require.Equal(t, "0.3", price(newer, older))
	require.Equal(t, "0.4", price(newer, same))
	r := run(t, "catalog", "--catalog", "ec2/us-east-1", "--filter", "name=m5.large", "--prices", newer)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Empty(t, r.stderr)
	require.Contains(t, r.stdout, "$0.3000")
	require.Contains(t, run(t, "prices", older).stderr, "older.json: states no date for 1 of its prices: give the day of the download with --date YYYY-MM-DD")
}

func TestPriceListsThatCannotBeJoined(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a discount":   {"prices: [{instanceType: m5.large, capacityType: on-demand, factor: 0.9}]\n", "instance type m5.large: prices[0]: is no price, but a change of prices by -10%"},
		"a pattern":    {"prices: [{instanceType: m5.*, capacityType: on-demand, price: 0.9}]\n", "instance type m5.*: prices[0]: is not of a single instance type"},
		"another file": {`{"skus": "none"}`, "is none, want ["},
		"cut":          {`{"skus": [`, "the file ends too early: was the download complete?"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, "prices", temp(t, "list.json", tt.text))
			require.Equal(t, exitBadInput, r.code)
			require.Contains(t, r.stderr, tt.want)
		})
	}
	r := runWith(t, strings.NewReader(`{"Items": []}`), "prices", "-")
	require.Equal(t, "error: -: the Azure retail price list has no price of a Linux node\n", r.stderr)
	require.Equal(t, exitUsage, run(t, "prices").code)
	require.Equal(t, exitUsage, run(t, "prices", "x", "--date", "today").code)
}

// The containers of the job run one after another, with recorded price lists in place of AWS.
func TestJobThatRenewsPrices(t *testing.T) {
	text, err := os.ReadFile(recorded + "cronjob.yaml")
	require.NoError(t, err)
	documents := strings.Split(string(text), "\n---\n")
	var job batchv1.CronJob
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[len(documents)-1]), &job))
	pod := &job.Spec.JobTemplate.Spec.Template.Spec
	work, bin := t.TempDir(), t.TempDir()
	lists, err := filepath.Abs(recorded)
	require.NoError(t, err)
	script := func(name, body string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body), 0o755))
	}
	script("aws", `case "$*" in
"pricing get-products --region us-east-1 --service-code AmazonEC2 --output json --filters Type=TERM_MATCH,Field=regionCode,Value=us-east-1 "*) cat "`+lists+`/aws-products.json" ;;
"ec2 describe-spot-price-history --region us-east-1 --product-descriptions Linux/UNIX "*"--filters Name=instance-type,Values=c6*"*) cat "`+lists+`/spot-price-history.json" ;;
*) echo "aws: $*" >&2; exit 2 ;;
esac
`)
	script("kubectl", `case "$1 $2" in
"create configmap") cat "$WORK/prices.json" ;;
"apply --server-side") cat >"$STORED" ;;
*) echo "kubectl: $*" >&2; exit 2 ;;
esac
`)
	stored := filepath.Join(work, "stored")
	shell := func(c *corev1.Container) {
		require.Equal(t, []string{"sh", "-ec"}, c.Command)
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", c.Args[0])
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "STORED=" + stored}
		for _, e := range c.Env {
			cmd.Env = append(cmd.Env, e.Name+"="+strings.ReplaceAll(e.Value, "/work", work))
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", c.Name, out)
	}
	require.Len(t, pod.InitContainers, 2)
	shell(&pod.InitContainers[0])
	var args []string
	for _, arg := range pod.InitContainers[1].Args {
		args = append(args, strings.ReplaceAll(arg, "/work", work))
	}
	require.Equal(t, exitOK, run(t, args...).code)
	shell(&pod.Containers[0])
	kept, err := os.ReadFile(stored)
	require.NoError(t, err)
	require.Equal(t, run(t, "prices", recorded+"aws-products.json", recorded+"spot-price-history.json").stdout, string(kept))
}
