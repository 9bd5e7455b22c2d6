"""What a study with people is: its file, its design, its checks before the launch, its frozen form."""
