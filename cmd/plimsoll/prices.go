package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/samber/lo"
	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/pricelist"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// pricesCommand joins price lists to a file for --prices.
func pricesCommand(a *app) *cobra.Command {
	var files []string
	var date string
	var to *destination
	cmd := &cobra.Command{
		Use:   "prices FILE [FILE]... [-o FILE]",
		Short: "Join the price lists of clouds to one file for --prices",
		Long: `Prices reads the output of "aws pricing get-products" or EC2's offer files, of "aws ec2
describe-spot-price-history", pages of Azure's retail prices API and pages of the SKUs of Compute
Engine (Cloud Billing Catalog API), and files that it has written before. It prints one file for
--prices: a line for each price, in order, with its day and its price list. Of several prices of
one instance type the newest counts, of equally old ones that of the later file.

It reads the prices of Linux nodes without licences, in USD. Everything else is left out, and
counted in a warning. The kind of a file follows from its content.`,
		Example: `  plimsoll prices products.json spot.json -o prices.json
  curl -sSf "$url" | plimsoll prices - --date "$(date -u +%F)" > prices.json
  plimsoll consolidate -f cluster.json --prices prices.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if files = args; len(files) == 0 {
				return errors.New("name the files of price lists, or - for stdin")
			}
			return nil
		},
		RunE: a.does(func(context.Context) error {
			lists := make([]instancetypes.Prices, len(files))
			var errs []error
			for i, file := range files {
				var err error
				if lists[i], err = priceList(a, file); err == nil {
					err = lists[i].WriteJSON(io.Discard) // refuses patterns and factors
				}
				if err != nil {
					errs = append(errs, within(file, err))
				}
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			for i := range lists {
				lists[i].Date = cmp.Or(lists[i].Date, date)
				for _, w := range lists[i].Warnings {
					a.say("warning: %s: %s", files[i], w)
				}
				for _, line := range pricelists.Summary(&lists[i]) {
					a.say("note: %s: %s", files[i], line)
				}
				if undated := lo.CountBy(lists[i].Changes, func(x instancetypes.PriceChange) bool { return x.Date == "" }); undated > 0 && lists[i].Date == "" {
					a.say("warning: %s: states no date for %d of its prices: give the day of the download with --date YYYY-MM-DD", files[i], undated)
				}
			}
			joined := pricelists.Join(lists)
			if err := joined.WriteJSON(&a.stdout); err != nil {
				return err
			}
			return to.deliver(a)
		}),
	}
	textFlag(cmd.Flags(), "date", "`DAY` of the prices whose list states none (YYYY-MM-DD), such as those of Azure", func(text string) error {
		date = text
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return errors.New("want a day, as YYYY-MM-DD")
		}
		return nil
	})
	grouped(cmd, groupInput)
	to = destinationFlag(a, cmd, "output `FORMAT`: json, for stdout, or a file whose name ends in .json", map[string]string{".json": "json"}, "json")
	return cmd
}

// priceList reads a file, or stdin for "-".
func priceList(a *app, file string) (instancetypes.Prices, error) {
	if file == manifest.Stdin {
		return pricelist.ReadList(a.stdin)
	}
	return clouds.ReadPriceList(file)
}
