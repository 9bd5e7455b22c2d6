-- The tables of version 1 in PostgreSQL, as the program of that version made them.
CREATE OR REPLACE FUNCTION lexiscope_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'answers' THEN
    IF EXISTS (SELECT 1 FROM erasures WHERE participant_id = OLD.participant_id AND answers = 'removed') THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TABLE study (
	study_id TEXT NOT NULL,
	schema_version INTEGER NOT NULL,
	definition TEXT NOT NULL,
	sha256 VARCHAR(64) NOT NULL,
	created_at VARCHAR(32) NOT NULL,
	PRIMARY KEY (study_id)
);
CREATE TRIGGER study_append_only BEFORE UPDATE OR DELETE ON study FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER study_no_truncate BEFORE TRUNCATE ON study EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE participants (
	participant_id TEXT NOT NULL,
	created_at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id)
);
CREATE TRIGGER participants_append_only BEFORE UPDATE OR DELETE ON participants FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER participants_no_truncate BEFORE TRUNCATE ON participants EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE lists (
	list_id TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	places INTEGER NOT NULL CHECK (places >= 0),
	PRIMARY KEY (list_id)
);
CREATE TABLE audit (
	id INTEGER NOT NULL,
	at VARCHAR(32) NOT NULL,
	actor TEXT NOT NULL,
	action TEXT NOT NULL,
	details TEXT NOT NULL,
	previous VARCHAR(64) NOT NULL,
	hash VARCHAR(64) NOT NULL,
	PRIMARY KEY (id)
);
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE audit_head (
	one INTEGER NOT NULL,
	entries INTEGER NOT NULL,
	hash VARCHAR(64) NOT NULL,
	PRIMARY KEY (one)
);
CREATE TABLE identities (
	participant_id TEXT NOT NULL,
	lookup VARCHAR(64) NOT NULL,
	platform_id TEXT NOT NULL,
	session TEXT,
	PRIMARY KEY (participant_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id),
	UNIQUE (lookup)
);
CREATE TABLE consents (
	id SERIAL NOT NULL,
	participant_id TEXT NOT NULL,
	text_version TEXT NOT NULL,
	text_sha256 VARCHAR(64) NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
CREATE TRIGGER consents_append_only BEFORE UPDATE OR DELETE ON consents FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER consents_no_truncate BEFORE TRUNCATE ON consents EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE states (
	id SERIAL NOT NULL,
	participant_id TEXT NOT NULL,
	number INTEGER NOT NULL,
	from_state TEXT,
	to_state TEXT NOT NULL,
	reason TEXT NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (participant_id, number),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
CREATE TRIGGER states_append_only BEFORE UPDATE OR DELETE ON states FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER states_no_truncate BEFORE TRUNCATE ON states EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE leases (
	participant_id TEXT NOT NULL,
	list_id TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	number INTEGER,
	status TEXT NOT NULL,
	surplus BOOLEAN NOT NULL,
	taken_at VARCHAR(32) NOT NULL,
	expires_at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id),
	FOREIGN KEY(list_id) REFERENCES lists (list_id),
	UNIQUE (ordinal)
);
CREATE INDEX ix_leases_list_id ON leases (list_id);
CREATE TABLE trials (
	participant_id TEXT NOT NULL,
	phase TEXT NOT NULL,
	position INTEGER NOT NULL,
	item_id TEXT NOT NULL,
	display_order TEXT NOT NULL,
	side TEXT,
	PRIMARY KEY (participant_id, phase, position),
	UNIQUE (participant_id, phase, item_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
CREATE TRIGGER trials_append_only BEFORE UPDATE OR DELETE ON trials FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER trials_no_truncate BEFORE TRUNCATE ON trials EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE answers (
	id SERIAL NOT NULL,
	participant_id TEXT NOT NULL,
	item_id TEXT NOT NULL,
	phase TEXT NOT NULL,
	client_key TEXT NOT NULL,
	revision INTEGER NOT NULL,
	supersedes INTEGER,
	position INTEGER NOT NULL,
	next_position INTEGER NOT NULL,
	measure TEXT NOT NULL,
	value FLOAT(53),
	option TEXT,
	text TEXT,
	guessed_word TEXT,
	display_order TEXT NOT NULL,
	side TEXT,
	shown_at VARCHAR(32),
	answered_at VARCHAR(32) NOT NULL,
	rt_ms FLOAT(53),
	rt_server_ms FLOAT(53),
	comment TEXT,
	flags TEXT NOT NULL,
	page_version TEXT NOT NULL,
	guideline_version TEXT NOT NULL,
	item_sha256 VARCHAR(64) NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (participant_id, item_id, phase, client_key),
	UNIQUE (participant_id, phase, item_id, revision),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id),
	FOREIGN KEY(supersedes) REFERENCES answers (id)
);
CREATE INDEX ix_answers_supersedes ON answers (supersedes);
CREATE TRIGGER answers_append_only BEFORE UPDATE OR DELETE ON answers FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER answers_no_truncate BEFORE TRUNCATE ON answers EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE codes (
	participant_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	code TEXT NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id, kind),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
CREATE TRIGGER codes_append_only BEFORE UPDATE OR DELETE ON codes FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER codes_no_truncate BEFORE TRUNCATE ON codes EXECUTE FUNCTION lexiscope_append_only();
CREATE TABLE erasures (
	participant_id TEXT NOT NULL,
	answers TEXT NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
CREATE TRIGGER erasures_append_only BEFORE UPDATE OR DELETE ON erasures FOR EACH ROW EXECUTE FUNCTION lexiscope_append_only();
CREATE TRIGGER erasures_no_truncate BEFORE TRUNCATE ON erasures EXECUTE FUNCTION lexiscope_append_only();
