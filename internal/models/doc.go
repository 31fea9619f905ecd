// Package models answers what the cached catalogs and the credentials say about
// providers and models: for a child that runs turns, and for the commands that
// list and select models. It fetches nothing (see package catalog).
package models
