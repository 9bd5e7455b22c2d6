"""The researcher's side of a study's server: accounts, the dashboard, reviews, exports."""
