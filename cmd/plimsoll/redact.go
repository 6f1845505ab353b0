package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/internal/redact"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// redactCommand makes a dump fit to leave the house.
func redactCommand(a *app) *cobra.Command {
	var files []string
	var recursive, keepNames bool
	cmd := &cobra.Command{
		Use:   "redact -f FILE [-f FILE]...",
		Short: "Anonymize a dump for sharing",
		Long: `Redact prints the objects of a dump that plans depend on, as one list in JSON: without environment,
images, arguments, other annotations, addresses and statuses; Secrets and ConfigMaps are left out.
Your own names, namespaces and labels are replaced consistently, word by word and in the same
order, so that a plan of the result launches the same nodes.

It keeps quantities and times, zones, instance types and names of the cloud provider, keys of
well-known labels, names of resources such as nvidia.com/gpu, volume drivers, prices of
NodeOverlays, and which objects share words in their names.`,
		Example: `  kubectl get pods,nodes,pdb,hpa,ds,pvc,pv,sc,csinodes,nodeclaims,nodepools,ec2nodeclasses -A -o json | plimsoll redact -f - > dump.json
  plimsoll consolidate -f dump.json`,
		Args: noArguments("; name manifests with -f"),
		RunE: a.does(func(context.Context) error {
			if len(files) == 0 {
				return usagef("nothing to read: name manifests with -f FILE, -f DIRECTORY or -f - for stdin")
			}
			items, left := []redact.Object{}, map[string]int{}
			var errs []error
			err := manifest.Loader{Stdin: a.stdin, Recursive: recursive}.Objects(func(o manifest.Object) {
				if !o.Read {
					left[o.Kind]++
					return
				}
				var item redact.Object
				errs = append(errs, json.Unmarshal(o.JSON, &item))
				redact.Strip(item)
				items = append(items, item)
			}, files...)
			if err := errors.Join(append(errs, err)...); err != nil {
				return err
			}
			if !keepNames {
				names := redact.NewNames(items)
				for i := range items {
					items[i] = names.Replace(items[i])
				}
			}
			for _, kind := range slices.Sorted(maps.Keys(left)) {
				a.say("left out: %s", figures.Count(left[kind], kind))
			}
			return a.encode("json", "list", redact.Object{"apiVersion": "v1", "kind": "List", "items": items})
		}),
	}
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "`FILE`, directory or - (stdin) of manifests in YAML or JSON; may be repeated")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "read directories recursively")
	grouped(cmd, groupInput)
	cmd.Flags().BoolVar(&keepNames, "keep-names", false, "keep all names")
	grouped(cmd, groupOutput)
	return cmd
}
