// Package ec2data makes the tables of the embedded EC2 catalogs from what package
// source reads: it decides which source is right where two disagree, mends known
// errors, derives what newer types are from their names, and leaves out whatever it
// cannot know. It invents no price.
package ec2data
