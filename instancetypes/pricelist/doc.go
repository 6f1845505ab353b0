// Package pricelist reads the price lists that the tools and APIs of clouds print, for [instancetypes.Catalog.WithPrices]:
//
//   - "aws pricing get-products --service-code AmazonEC2", and the offer files of EC2 that AWS publishes for bulk download;
//   - "aws ec2 describe-spot-price-history";
//   - pages of https://prices.azure.com/api/retail/prices;
//   - pages of the SKUs of Compute Engine, from the Cloud Billing Catalog API of Google Cloud.
//
// [ReadList] tells them apart by their content, and also reads the files of [instancetypes.ReadPrices]. Prices are those of Linux
// nodes of shared tenancy without licences, in USD per hour. Everything else is left out, and counted in a warning.
//
//	read.go      the kinds of lists
//	document.go  JSON documents, one after another
//	list.go      prices and faults while a list is read
//	ec2.go       products and spot prices of EC2
//	azure.go     meters of Azure
//	gcp.go       SKUs of Google Cloud
package pricelist
