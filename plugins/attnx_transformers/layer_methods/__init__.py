"""Importance methods that follow states and relevance through the layers."""
